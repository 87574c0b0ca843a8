// What is wrong, of every kind: one card for each object, with its findings and what would help.
import { html, nothing } from '/console/lit-html.js';
import { actButtons } from '/console/acts.js';
import { call } from '/console/feed.js';
import { ago, chip, empty } from '/console/parts.js';

const SHOWN = 100;

export function problemsView(state, actions) {
  const { problems: look, problemSearch } = state;
  if (look?.refused) return empty('Not shown', look.refused);
  if (!look) return empty('Looking …', 'A list of every kind is read.');
  const wanted = problemSearch.trim().toLowerCase();
  const found = look.problems.filter((problem) => wanted === '' || textOf(problem).includes(wanted));
  return html`<section class="page problems" aria-label="Problems">
    <div class="problem-tools">
      <input
        type="search"
        placeholder="Kind, namespace, name, cause"
        aria-label="Find a problem by kind, namespace, name or cause"
        .value=${problemSearch}
        @input=${(event) => actions.findProblem(event.target.value)}
      />
      <p class="quiet" role="status">
        ${found.length} of ${look.problems.length} problems, ${look.looked} objects looked at
        ${ago(look.atMs, state.nowMs)} ago
      </p>
    </div>
    ${look.notes.map((note) => html`<p class="quiet">${note}</p>`)}
    ${
      look.problems.length === 0
        ? empty('Nothing is wrong', `None of ${look.looked} objects is stuck or degraded.`)
        : html`<ul class="problem-list">
            ${found.slice(0, SHOWN).map((problem) => card(problem, state, actions))}
          </ul>`
    }
    ${found.length > SHOWN ? html`<p class="quiet">and ${found.length - SHOWN} more</p>` : nothing}
  </section>`;
}

function textOf({ cause, kind, name, namespace = '', sentence }) {
  return `${kind} ${namespace}/${name} ${cause} ${sentence}`.toLowerCase();
}

function card({ kind, name, namespace, sentence, state: is, unblockedBy, waitsFor }, state, actions) {
  const findings = waitsFor.filter(({ severity }) => severity !== 'note');
  const isRollout = kind === 'Deployment' && state.deployments.has(`${namespace}/${name}`);
  return html`<li class=${is}>
    <header>
      <span class="kind-word">${kind}</span>
      <h3>${namespace === undefined ? nothing : html`<span class="ns">${namespace}/</span>`}${name}</h3>
      ${chip(is)}
      ${
        isRollout
          ? html`<button class="plain" @click=${() => actions.openRollout(`${namespace}/${name}`)}>
              Its rollout
            </button>`
          : nothing
      }
    </header>
    <p class="sentence">${sentence}</p>
    ${kind === 'Node' ? nodeActs(name, waitsFor, actions) : nothing}
    <ul class="causes">
      ${findings.map((finding) => findingItem(finding, findings.length === 1, namespace, state, actions))}
    </ul>
    ${
      unblockedBy.length === 0
        ? nothing
        : html`<p class="help-word">What would help</p>
            <ul class="ways">
              ${unblockedBy.map((way) => html`<li>${way}</li>`)}
            </ul>`
    }
  </li>`;
}

function nodeActs(name, findings, actions) {
  const isCordoned = findings.some(({ cause }) => cause === 'node-cordoned');
  return actButtons(`nodes/${name}`, [isCordoned ? 'uncordon' : 'cordon', 'drain'], actions);
}

/** @param isTold whether the sentence above says the same */
function findingItem(finding, isTold, namespace, state, actions) {
  const { cause, objects = [], pods = [], severity, since, summary } = finding;
  return html`<li class=${severity}>
    <code>${cause}</code>
    ${since ? html`<span class="quiet" title=${since}>since ${ago(Date.parse(since), state.nowMs)}</span>` : nothing}
    ${isTold ? nothing : html`<p>${summary}</p>`}
    ${objects
      .slice(0, 5)
      .map(
        ({ detail, kind, name, namespace: of }) =>
          html`<p class="pod"><b>${kind} ${of ? `${of}/` : ''}${name}</b>${detail ? `: ${detail}` : ''}</p>`,
      )}
    ${pods.slice(0, 5).map((pod) => podLine(pod, cause, namespace, actions, summary))}
  </li>`;
}

/** A pod of a finding; of one that no node takes, each node says why. */
export function podLine({ message, name, node, reason }, cause, namespace, actions, said) {
  return html`<p class="pod">
    <b>${name}</b>${node ? ` on ${node}` : ''}
    ${reason}${message && !said.includes(message) ? `: ${message}` : ''}
    ${
      cause === 'unschedulable' && namespace
        ? html`<button class="plain" @click=${() => actions.showPlacement(namespace, name)}>
            Why, per node
          </button>`
        : nothing
    }
  </p>`;
}

const NODES_SHOWN = 50;

/** Why each node does not take a pod. */
export function placementDialog({ placed }, actions) {
  if (!placed) return nothing;
  const { key, placement, problem } = placed;
  const close = () => actions.set({ placed: undefined });
  return html`<div class="veil" @click=${(event) => event.target === event.currentTarget && close()}>
    <section
      class="dialog placement"
      role="dialog"
      aria-modal="true"
      aria-labelledby="placement-title"
      @keydown=${(event) => event.key === 'Escape' && close()}
    >
      <h2 id="placement-title">Where could ${key} run?</h2>
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : nothing}
      ${placement ? placementBody(placement) : problem ? nothing : html`<p class="quiet">Asking the scheduler's own rules …</p>`}
      <div class="buttons"><button id="close-placement" @click=${close}>Close</button></div>
    </section>
  </div>`;
}

function placementBody({ message, nodes, notes, obstacles, preemption, summary }) {
  return html`<p>${summary}</p>
    ${message ? html`<p class="quiet">${message}</p>` : nothing}
    ${
      obstacles.length > 0
        ? html`<ul class="ways">
            ${obstacles.map(obstacleItem)}
          </ul>`
        : nothing
    }
    <div class="nodes" tabindex="0" role="region" aria-label="Nodes">
      <table>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Plug-in</th>
            <th scope="col">Why not</th>
            <th scope="col">What would help</th>
          </tr>
        </thead>
        <tbody>
          ${nodes.slice(0, NODES_SHOWN).flatMap(({ node, obstacles: of }) =>
            of.length === 0
              ? [
                  html`<tr>
                    <th scope="row">${node}</th>
                    <td colspan="3">could take it</td>
                  </tr>`,
                ]
              : of.map(
                  ({ plugin, reasons, remedy }, index) =>
                    html`<tr>
                      <th scope="row">${index === 0 ? node : ''}</th>
                      <td><code>${plugin}</code></td>
                      <td>${reasons.join(', ')}</td>
                      <td>${remedy ?? ''}</td>
                    </tr>`,
                ),
          )}
        </tbody>
      </table>
    </div>
    ${nodes.length > NODES_SHOWN ? html`<p class="quiet">and ${nodes.length - NODES_SHOWN} more nodes</p>` : nothing}
    ${
      preemption
        ? html`<p>
            To make room on <b>${preemption.node}</b>, ${preemption.victims.join(', ')} would be preempted.
          </p>`
        : nothing
    }
    ${notes.map((note) => html`<p class="quiet">${note}</p>`)}`;
}

function obstacleItem({ plugin, reasons, remedy }) {
  return html`<li><code>${plugin}</code> ${reasons.join(', ')}${remedy ? ` – ${remedy}` : ''}</li>`;
}

/** What is looked at, and how. @param page see `page` in console.js */
export function problemActions({ focusSoon, openRollout, set, state }) {
  let looking = false;
  return {
    openRollout,
    async lookForProblems() {
      if (state.tab !== 'problems' || looking || document.hidden) return;
      looking = true;
      try {
        const look = await call('GET', '/admin/problems');
        set({ problems: { ...look, atMs: state.nowMs } });
      } catch (error) {
        if (error.status === 401 || error.status === 403) set({ problems: { refused: error.message } });
        // Otherwise the feed shows what is gone, and the last look stays.
      } finally {
        looking = false;
      }
    },
    /** Kept in the address, so that it can be shared. */
    findProblem(text) {
      const url = new URL(location.href);
      if (text === '') url.searchParams.delete('problem');
      else url.searchParams.set('problem', text);
      history.replaceState(undefined, '', url);
      set({ problemSearch: text });
    },
    async showPlacement(namespace, name) {
      const key = `${namespace}/${name}`;
      set({ placed: { key } });
      focusSoon('close-placement');
      const answer = await call('GET', `/admin/explain/pods/${key}`).catch((error) => ({
        failed: error.message,
      }));
      if (state.placed?.key !== key) return;
      const { failed, placement, sentence } = answer;
      set({ placed: { key, placement, problem: failed ?? (placement ? '' : sentence) } });
    },
  };
}
