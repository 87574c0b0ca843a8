// The palette (Ctrl+K): goes to an object or a view, or opens the question about an act.
import { html, nothing } from '/console/lit-html.js';
import { ACTS_OF, actWord, pathOfRollout } from '/console/acts.js';
import { tabsOf } from '/console/bar.js';
import { fits, parseFind } from '/console/find.js';
import { partsOf } from '/console/object.js';
import { STATES, groupOf, nameOf } from '/console/parts.js';

const SHOWN = 12;

export function palette(state, actions) {
  if (!state.palette) return nothing;
  const { current, found } = entriesNow(state, actions);
  const close = () => actions.closePalette();
  return html`<div class="veil top" @click=${(event) => event.target === event.currentTarget && close()}>
    <div
      class="dialog palette"
      role="dialog"
      aria-modal="true"
      aria-label="Go to, or run an action"
      @keydown=${(event) => onKey(event, state, actions)}
    >
      <input
        id="palette-text"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant=${current >= 0 ? `palette-${current}` : nothing}
        aria-label="An object, a view, or an action"
        placeholder="shop/web, pod shop/web-0, node worker-1, Scale, Problems …"
        autocomplete="off"
        spellcheck="false"
        maxlength="300"
        .value=${state.palette.text}
        @input=${(event) => actions.set({ palette: { text: event.target.value, chosen: 0 } })}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        ${found.map(
          ({ does, hint, words }, index) =>
            html`<li
              id="palette-${index}"
              role="option"
              aria-selected=${index === current}
              @click=${() => choose(does, actions)}
            >
              <span>${words}</span><span class="quiet">${hint}</span>
            </li>`,
        )}
      </ul>
      ${found.length === 0 ? html`<p class="quiet" role="status">No matches.</p>` : nothing}
    </div>
  </div>`;
}

/** The entries for the text as it is now, and the index of the entry that Enter takes; -1 if there is none. */
function entriesNow(state, actions) {
  const { chosen, text } = state.palette;
  const found = entriesFor(text, state, actions);
  return { found, current: Math.min(chosen, found.length - 1) };
}

/** Keys can come sooner than the next frame is drawn: they mean what has been typed, not what is seen. */
function onKey(event, state, actions) {
  // It is closed, and not gone from the page yet.
  if (!state.palette) return;
  const { current, found } = entriesNow(state, actions);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && found.length > 0) {
    event.preventDefault();
    actions.choosePalette((current + step + found.length) % found.length);
    return;
  }
  if (event.key === 'Enter' && found[current]) {
    event.preventDefault();
    choose(found[current].does, actions);
    return;
  }
  actions.dialogKeys(event, () => actions.closePalette());
}

function choose(does, actions) {
  actions.closePalette();
  does();
}

/** The best first: what was typed as `KIND NAME`, then acts and views, then rollouts. */
function entriesFor(text, state, actions) {
  const terms = parseFind(text);
  const named = namedObject(text, state, actions);
  const words = text.trim().toLowerCase();
  const plain = [
    ...actsOnShown(state, actions),
    ...views(state, actions),
    {
      words: 'Open a file of spans',
      hint: 'traces, as OTLP/JSON',
      does: () => actions.askTraceFile(),
    },
    ...kindLists(state, actions),
  ].filter(({ hint, words: said }) => `${said} ${hint}`.toLowerCase().includes(words));
  const rollouts = [];
  for (const item of state.deployments.values()) {
    if (rollouts.length === SHOWN) break;
    if (fits({ ...item, stateWord: STATES[item.state]?.word ?? '' }, terms))
      rollouts.push(rolloutEntry(item, actions));
  }
  return [...named, ...(words === '' ? [...plain, ...rollouts] : [...rollouts, ...plain])].slice(0, SHOWN);
}

function rolloutEntry(item, actions) {
  return {
    words: nameOf(item).join('/'),
    hint: `Deployment, ${(STATES[item.state]?.word ?? item.state).toLowerCase()}`,
    does: () => actions.openRollout(item.key),
  };
}

/** `pod shop/web-0`, `pod/shop/web-0`, `node worker-1`. */
function namedObject(text, { kinds = [] }, actions) {
  const [typed = '', ...names] = text.trim().split(/[\s/]+/);
  const wanted = typed.toLowerCase();
  const kind = kinds.find(({ kind: each, word }) => [each.toLowerCase(), word].includes(wanted));
  const parts = names.filter(Boolean);
  if (!kind || parts.length === 0 || parts.length > (kind.namespaced ? 2 : 1)) return [];
  if (kind.namespaced && parts.length === 1)
    return [
      {
        words: `${kind.kind}s called ${parts[0]}`,
        hint: listHint(kind.word),
        does: () => actions.listAs({ kind: kind.word, find: parts[0] }),
      },
    ];
  const name = parts.join('/');
  return [{ words: name, hint: kind.kind, does: () => actions.openObject(`${kind.word}/${name}`) }];
}

function views(state, actions) {
  return tabsOf(state).map(([id, word]) => ({ words: word, hint: 'view', does: () => actions.tab(id) }));
}

function kindLists({ kinds = [] }, actions) {
  return kinds.map(({ kind, word }) => ({
    words: `${kind}s`,
    hint: listHint(word),
    does: () => actions.listAs({ kind: word }),
  }));
}

function listHint(word) {
  const group = groupOf(word);
  return group === '' ? 'list' : `list, ${group}`;
}

/** The acts on the object that is shown. */
function actsOnShown(state, actions) {
  const { path, verbs } = shownObject(state);
  if (path === undefined) return [];
  const name = path.slice(path.indexOf('/') + 1);
  return verbs.map((verb) => ({
    words: `${actWord(verb)} ${name}`,
    hint: 'act',
    does: () => actions.askAct({ path, verb }),
  }));
}

function shownObject(state) {
  if (state.tab === 'rollouts') {
    const item = state.deployments.get(state.selected);
    if (!item) return {};
    const pause = item.state === 'paused' ? 'resume' : 'pause';
    return { path: pathOfRollout(item), verbs: ['scale', 'set-image', 'restart', pause] };
  }
  if (state.tab !== 'objects' || !state.object) return {};
  const [word] = partsOf(state.object);
  if (word === 'nodes') return { path: state.object, verbs: ['cordon', 'uncordon', 'drain'] };
  return ACTS_OF[word] ? { path: state.object, verbs: ACTS_OF[word] } : {};
}

/** @param page see `page` in console.js */
export function paletteActions({ drawNow, learnKinds, set, state }) {
  let before;
  const openPalette = () => {
    if (state.palette || state.asksToken) return;
    before = document.activeElement;
    set({ palette: { text: '', chosen: 0 } });
    // At once, so that the letters typed next are for it.
    drawNow();
    document.getElementById('palette-text')?.focus();
    if (!state.kinds) void learnKinds();
  };
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    openPalette();
  });
  return {
    openPalette,
    choosePalette(chosen) {
      set({ palette: { ...state.palette, chosen } });
      requestAnimationFrame(() =>
        requestAnimationFrame(() =>
          document.getElementById(`palette-${chosen}`)?.scrollIntoView({ block: 'nearest' }),
        ),
      );
    },
    closePalette() {
      set({ palette: undefined });
      before?.focus?.();
    },
  };
}
