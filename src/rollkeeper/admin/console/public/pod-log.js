// The log of a pod's container, live.
import { html, nothing } from '/console/lit-html.js';
import { readStream } from '/console/feed.js';

const KEPT = 5000;

export function podLog(object, { containers = [] }, { log }, actions) {
  const shown = log?.object === object ? log : undefined;
  return html`<h3 class="title" id="logs">Log</h3>
    <div class="log-tools">
      ${
        containers.length > 1
          ? html`<label class="field"
              >Container
              <select @change=${(event) => actions.followLog(object, { container: event.target.value })}>
                ${containers.map(
                  (name) =>
                    html`<option value=${name} .selected=${name === (shown?.container ?? containers[0])}>
                      ${name}
                    </option>`,
                )}
              </select></label
            >`
          : nothing
      }
      ${
        shown?.isOpen
          ? html`<button @click=${() => actions.stopLog()}>Stop</button>`
          : html`<button
              id="follow-log"
              @click=${() => actions.followLog(object, { container: shown?.container ?? containers[0] })}
            >
              Follow
            </button>`
      }
      <button
        class="plain"
        @click=${() => actions.followLog(object, { container: shown?.container ?? containers[0], previous: true })}
      >
        Before its last restart
      </button>
      <span class="quiet" role="status">${shown ? statusOf(shown) : ''}</span>
    </div>
    ${
      shown
        ? html`<pre class="log" id="log" tabindex="0" role="log" aria-label="Log" aria-live="off">
${shown.lines.join('\n')}</pre>`
        : nothing
    }`;
}

function statusOf({ isOpen, lines, previous, problem }) {
  if (problem) return problem;
  const count = `${lines.length}${lines.length === KEPT ? ' last' : ''} lines`;
  if (isOpen) return lines.length === 0 ? 'No output yet.' : `Live, ${count}`;
  return `${previous ? 'Before its last restart' : 'Ended'}, ${count}`;
}

/** @param page see `page` in console.js */
export function podLogActions({ set, state, withToken }) {
  let control;

  const stopLog = () => {
    control?.abort();
    control = undefined;
    if (state.log) set({ log: { ...state.log, isOpen: false } });
  };

  const followLog = async (object, { container, previous = false }) => {
    stopLog();
    const mine = new AbortController();
    control = mine;
    const [, namespace, name] = object.split('/');
    const query = new URLSearchParams({ follow: String(!previous), previous: String(previous) });
    if (container) query.set('container', container);
    set({ log: { object, container, previous, isOpen: true, lines: [] } });
    const update = (change) => control === mine && set({ log: { ...state.log, ...change } });
    const path = `/admin/objects/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/log?${query}`;
    try {
      await readStream(path, (event) => update(onEvent(event, state.log)), mine);
      update({ isOpen: false });
    } catch (error) {
      if (mine.signal.aborted && control !== mine) return;
      update({ isOpen: false, problem: error.status ? error.message : 'The connection was lost.' });
      if (error.status === 401) withToken(() => followLog(object, { container, previous }));
    }
  };

  return { followLog, stopLog };
}

function onEvent({ lines = [], problem, type }, log) {
  if (type === 'log-end') return { isOpen: false, ...(problem && { problem }) };
  if (lines.length === 0) return {};
  keepAtEnd();
  return { lines: [...log.lines, ...lines].slice(-KEPT) };
}

/** The newest line stays in sight, unless the reader has gone up. */
function keepAtEnd() {
  const shown = document.getElementById('log');
  if (!shown || shown.scrollHeight - shown.scrollTop - shown.clientHeight > 40) return;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const now = document.getElementById('log');
      if (now) now.scrollTop = now.scrollHeight;
    }),
  );
}
