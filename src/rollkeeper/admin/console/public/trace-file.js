// The traces of a file, which no replica has: dropped on the page, or chosen by the palette. It stays in the browser.
import { html, nothing } from '/console/lit-html.js';
import { LARGEST_FILE, tracesIn } from '/console/spans-file.js';
import { duration } from '/console/trace.js';

const SHOWN = 200;

export function traceFileDialog({ shownTrace, traceFile }, actions) {
  if (!traceFile || shownTrace) return nothing;
  const { find, name, problem, traces } = traceFile;
  const close = () => actions.closeTraceFile();
  const found = foundIn(traceFile);
  const [first] = traces;
  return html`<div class="veil" @click=${(event) => event.target === event.currentTarget && close()}>
    <div
      class="dialog wide"
      role="dialog"
      aria-modal="true"
      aria-labelledby="trace-file-title"
      @keydown=${(event) => actions.dialogKeys(event, close)}
    >
      <div class="head">
        <h2 id="trace-file-title">${name === '' ? 'A file of spans' : `Traces in ${name}`}</h2>
        <button class="plain" id="close-trace-file" @click=${close}>Close</button>
      </div>
      <p>
        <label
          >OTLP/JSON, of a collector or of a simulated seed. It stays in this browser.
          <input
            id="trace-file"
            type="file"
            accept=".json,.jsonl,application/json"
            @change=${({ target: { files } }) => files[0] && actions.openTraceFile(files[0])}
        /></label>
      </p>
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : nothing}
      ${
        first
          ? html`<input
                id="find-trace"
                type="search"
                aria-label="Find a trace"
                placeholder="shop/web, PATCH deployments …"
                autocomplete="off"
                spellcheck="false"
                maxlength="300"
                .value=${find}
                @input=${(event) => actions.findTrace(event.target.value)}
              />
              <ol class="traces">
                ${found.slice(0, SHOWN).map((each) => row(each, first.startMs, actions))}
              </ol>
              <p class="quiet" role="status">
                ${found.length > SHOWN ? `${SHOWN} of ${found.length} traces are shown.` : `${found.length} traces`}
              </p>`
          : nothing
      }
    </div>
  </div>`;
}

let lastFound;
/** Worked out once for each file and search: the page is drawn again with each change in the cluster. */
function foundIn({ find, traces }) {
  if (lastFound?.traces !== traces || lastFound.find !== find) {
    const words = find.toLowerCase().split(/\s+/);
    const found = traces.filter(({ said }) => words.every((word) => said.includes(word)));
    lastFound = { find, found, traces };
  }
  return lastFound.found;
}

function row({ durationMs, failed, id, name, object, spans, startMs }, firstMs, actions) {
  const count = `${spans.length} ${spans.length === 1 ? 'span' : 'spans'}`;
  return html`<li class=${failed ? 'failed' : ''}>
    <button class="plain" @click=${() => actions.showTraceOfFile(id)}>
      <span class="quiet">+${((startMs - firstMs) / 1000).toFixed(3)} s</span>
      <span><b>${name}</b> ${object}</span>
      <span class="quiet">${count}${failed ? ', failed' : ''} · ${duration(durationMs)}</span>
    </button>
  </li>`;
}

/** @param page see `page` in console.js */
export function traceFileActions({ focusSoon, set, state }) {
  let latest;
  return {
    /** Asks for a file. */
    askTraceFile() {
      set({ traceFile: { name: '', traces: [], find: '', problem: undefined } });
      focusSoon('#trace-file');
    },
    /** @param file what a person has dropped or chosen */
    async openTraceFile(file) {
      const { name, size } = file;
      const opened = { name, traces: [], find: '', problem: undefined };
      latest = opened;
      try {
        if (size > LARGEST_FILE) throw new Error('This file is larger than 64 MiB.');
        opened.traces = tracesIn(await file.text());
      } catch (error) {
        opened.problem = error.message;
      }
      // Another file that was opened later is shown, however long each takes.
      if (latest !== opened) return;
      set({ traceFile: opened, shownTrace: undefined });
      focusSoon(opened.problem ? '#trace-file' : '#find-trace');
    },
    findTrace(find) {
      // Escape also clears the field, after it has closed the dialog.
      if (state.traceFile) set({ traceFile: { ...state.traceFile, find } });
    },
    showTraceOfFile(id) {
      const { spans } = state.traceFile.traces.find((each) => each.id === id);
      set({ shownTrace: { id, spans, isOfFile: true } });
      focusSoon('#close-trace');
    },
    closeTraceFile() {
      lastFound = undefined;
      set({ traceFile: undefined });
    },
  };
}

/** Opens files that are dropped anywhere on the page. */
export function acceptTraceFiles(actions) {
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file) void actions.openTraceFile(file);
  });
}
