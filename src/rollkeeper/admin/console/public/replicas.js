// The replicas: the leader, its lease, and who works on what.
import { html, nothing } from '/console/lit-html.js';
import { ago, clockTime, countdownRing, empty } from '/console/parts.js';

export function leaseLeftMs({ cluster, clusterAtMs }) {
  if (!cluster?.lease) return 0;
  return Math.max(0, cluster.lease.remainingMs - (performance.now() - clusterAtMs));
}

export function replicasView(state) {
  const { cluster, nowMs } = state;
  if (!cluster) return empty('Reading …', '');
  const left = leaseLeftMs(state);
  const { lease } = cluster;
  return html`<section class="page" aria-label="Replicas">
    <h2 class="unseen">Replicas</h2>
    <div class="lease ${cluster.leader ? '' : 'vacant'}">
      ${countdownRing(lease ? left / lease.durationMs : 0)}
      <div>
        <p class="big">
          ${cluster.leader ? html`<b>${cluster.leader}</b> leads` : html`<b>No replica leads</b>`}
        </p>
        <p>
          epoch
          ${cluster.epoch}${
            lease
              ? html` · lease of ${lease.durationMs / 1000} s,
                  <span class="fixed">${(left / 1000).toFixed(1)} s</span> left unless renewed`
              : nothing
          }
        </p>
      </div>
    </div>
    <div class="cards">
      ${cluster.replicas.map(
        (replica) =>
          html`<article class="card ${replica.reachable ? '' : 'away'}">
            <header>
              <h3>${replica.identity}</h3>
              ${replica.leader ? html`<span class="chip leader">leader</span>` : nothing}
              ${replica.reachable ? nothing : html`<span class="chip blocked" title=${replica.problem ?? ''}>not answering</span>`}
              ${replica.identity === state.identity ? html`<span class="chip">this page</span>` : nothing}
            </header>
            <p class="quiet">
              process ${replica.pid} · up ${ago(replica.startedAtMs, nowMs)}
              ${
                replica.adminUrl && replica.identity !== state.identity
                  ? html`· <a href="${replica.adminUrl}/console">its console</a>`
                  : nothing
              }
            </p>
            <ul class="workers">
              ${replica.controllers.map(({ consuming, name, waitsFor, workers, worksOn }) => {
                const running = replica.running.filter((sync) => sync.controller === name);
                return html`<li>
                  <span class="controller"
                    ><i
                      class="lamp ${lampOf({ consuming, waitsFor, worksOn }, replica)}"
                      title=${lampTitle({ consuming, waitsFor, worksOn })}
                    ></i
                    >${name}</span
                  >
                  <span class="slots" role="img" aria-label="${running.length} of ${workers} workers busy"
                    >${Array.from({ length: Math.min(workers, 24) }, (_, slot) => html`<i class=${slot < running.length ? 'busy' : ''}></i>`)}</span
                  >
                </li>`;
              })}
            </ul>
            <ul class="running" aria-label="Running keys">
              ${replica.running.slice(0, 6).map(
                ({ controller, key, overdueSinceMs, sinceMs }) =>
                  html`<li>
                    <b>${key}</b> ${controller}
                    <span class="fixed">${Math.max(0, nowMs - sinceMs)} ms</span>
                    ${overdueSinceMs ? html`<em>exceeded its timeout, cancelled ${ago(overdueSinceMs, nowMs)}</em>` : nothing}
                  </li>`,
              )}
              ${replica.running.length === 0 ? html`<li class="quiet">idle</li>` : nothing}
            </ul>
          </article>`,
      )}
    </div>
    <h3 class="title">What happened</h3>
    ${
      state.history.length === 0
        ? html`<p class="quiet">No change of the leader since this page was opened.</p>`
        : html`<ol class="timeline" id="history">
            ${state.history.map(
              ({ atMs, what }) =>
                html`<li>
                  <p class="when">${clockTime(atMs)}</p>
                  <p>${what}</p>
                </li>`,
            )}
          </ol>`
    }
  </section>`;
}

/** Leader-only work is fine if another replica leads. */
function lampOf({ consuming, waitsFor = [], worksOn }, { leader }) {
  if (consuming) return 'on';
  return worksOn === 'leader' && !leader && waitsFor.length === 0 ? 'standby' : 'bad';
}

/** A replica of an older release does not report what a controller waits for. */
function lampTitle({ consuming, waitsFor = [], worksOn }) {
  if (consuming) return 'takes keys';
  if (waitsFor.length > 0) return `waits for ${waitsFor.map(({ resource }) => resource).join(', ')}`;
  return worksOn === 'leader' ? 'takes keys if the replica leads' : 'takes no keys';
}
