// The queues: their sizes, and every parked key with its error and actions.
import { html, nothing } from '/console/lit-html.js';
import { repeat } from '/console/directives/repeat.js';
import { call } from '/console/feed.js';
import { ago, empty } from '/console/parts.js';

export function queuesView(state, actions) {
  if (!state.queues) return empty('Reading …', '');
  const parked = state.queues.flatMap(({ controller, parked: keys }) =>
    keys.map((key) => ({ controller, ...key })),
  );
  return html`<section class="page queues-page" aria-label="Queues">
    <div class="queues-table">
      <h2 class="unseen">Queues</h2>
      <table>
        <caption class="unseen">
          Keys by queue
        </caption>
        <thead>
          <tr>
            <th scope="col">Queue</th>
            <th scope="col">Waiting</th>
            <th scope="col">Running</th>
            <th scope="col">Delayed</th>
            <th scope="col">Parked</th>
          </tr>
        </thead>
        <tbody>
          ${state.queues.map(
            ({ controller, counts }) =>
              html`<tr class=${controller === state.queueShown ? 'chosen' : ''}>
                <th scope="row">
                  <button
                    class="plain"
                    aria-pressed=${controller === state.queueShown}
                    @click=${() => actions.showQueue(controller)}
                  >
                    ${controller}
                  </button>
                </th>
                <td>${counts.waiting}</td>
                <td>${counts.active}</td>
                <td>${counts.delayed}</td>
                <td class=${counts.parked > 0 ? 'bad' : ''}>${counts.parked}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <div class="queue-detail">
      ${keysOf(state, actions)}
      <h3 class="title">Parked keys</h3>
      ${
        parked.length === 0
          ? html`<p class="quiet">
              None. A key that failed too often is parked. It waits for a change, a retry at a long interval,
              or a user.
            </p>`
          : html`<ul class="parked">
              ${repeat(
                parked,
                ({ controller, key }) => `${controller} ${key}`,
                ({ controller, error, key, nextTryMs, parkedAtMs, retries }) =>
                  html`<li>
                    <div>
                      <b>${key}</b>
                      <span class="quiet"
                        >${controller} · ${retries} retries · ${ago(parkedAtMs, state.nowMs)}
                        ago${
                          nextTryMs === undefined ? '' : ` · next try ${inSeconds(nextTryMs, state.nowMs)}`
                        }</span
                      >
                      <p class="error">${error}</p>
                    </div>
                    <div class="buttons">
                      <button @click=${() => actions.onKey(controller, 'unpark', key)}>Try again</button>
                      <button class="plain" @click=${() => actions.onKey(controller, 'purge', key)}>
                        Forget
                      </button>
                    </div>
                  </li>`,
              )}
            </ul>`
      }
      ${state.notice ? html`<p class="notice" role="alert">${state.notice}</p>` : nothing}
    </div>
  </section>`;
}

function inSeconds(dueMs, nowMs) {
  return `in ${Math.max(0, Math.ceil((dueMs - nowMs) / 1000))} s`;
}

const KEYS_SHOWN = 50;

/** The keys of the chosen queue, in processing order. */
function keysOf({ nowMs, queue, queueShown }, actions) {
  if (!queue || queue.controller !== queueShown) return nothing;
  const later = (dueMs) => inSeconds(dueMs, nowMs);
  const rows = [
    ...queue.running.map(({ key, overdueSinceMs, replica, sinceMs }) => [
      key,
      'running',
      `on ${replica} for ${Math.max(0, nowMs - sinceMs)} ms${overdueSinceMs ? `; exceeded its timeout, cancelled ${ago(overdueSinceMs, nowMs)}` : ''}`,
    ]),
    ...queue.waiting.map(({ key, priority, reason, sinceMs }) => [
      key,
      'waiting',
      `${ago(sinceMs, nowMs)}, ${priority} priority, ${reason}`,
    ]),
    ...queue.delayed.map(({ dueMs, failures, key, reason }) => [
      key,
      'delayed',
      `${later(dueMs)}${reason ? `, ${reason}` : ''}${failures > 0 ? `, ${failures} failures` : ''}`,
    ]),
  ];
  return html`<div id="queue-keys">
    <h3 class="title">Keys of ${queueShown}</h3>
    ${
      rows.length === 0
        ? html`<p class="quiet">No keys are waiting, running or delayed.</p>`
        : html`<ul class="keys">
            ${repeat(
              rows.slice(0, KEYS_SHOWN),
              // A row is that of its key: a click must not hit another one that moved there meanwhile.
              ([key, kind]) => `${kind === 'running'} ${key}`,
              ([key, kind, detail]) =>
                html`<li>
                  <span class="kind ${kind}">${kind}</span><b>${key}</b><span class="quiet">${detail}</span>
                  <button class="plain" @click=${() => actions.onKey(queueShown, 'requeue', key)}>
                    Run now
                  </button>
                  <button class="plain" @click=${() => actions.onKey(queueShown, 'park', key)}>Park</button>
                </li>`,
            )}
          </ul>`
    }
    ${rows.length > KEYS_SHOWN ? html`<p class="quiet">and ${rows.length - KEYS_SHOWN} more</p>` : nothing}
  </div>`;
}

/** @param page see `page` in console.js */
export function queueActions({ announce, draw, focusSoon, go, set, state, withToken }) {
  const onKey = async (controller, verb, key) => {
    try {
      await call('POST', `/admin/queues/${controller}/${verb}`, { key });
      set({ notice: `${key}: done` });
      announce(`${key}: ${verb} done`);
      void lookIntoQueue();
    } catch (error) {
      if (error.status === 401) withToken(() => onKey(controller, verb, key));
      else set({ notice: `${key}: ${error.message}` });
    }
  };

  const lookIntoQueue = async () => {
    if (state.tab !== 'queues' || !state.queueShown) return;
    try {
      state.queue = await call('GET', `/admin/queues/${state.queueShown}`);
      draw();
    } catch {
      // The next update shows the result.
    }
  };

  return {
    lookIntoQueue,
    onKey,
    showQueue(controller) {
      go({ queueShown: controller });
      void lookIntoQueue().then(() => focusSoon(showKeys));
    },
  };
}

/** Below the queue table, which is longer than many windows, they would be out of sight. */
function showKeys() {
  const keys = document.getElementById('queue-keys');
  if (keys && keys.getBoundingClientRect().top > document.documentElement.clientHeight / 2)
    keys.scrollIntoView({ block: 'start' });
}
