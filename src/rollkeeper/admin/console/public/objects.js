// The objects of a kind, and beside them the page of the one that is open.
import { html, nothing } from '/console/lit-html.js';
import { call } from '/console/feed.js';
import { ago, chip, empty, groupOf } from '/console/parts.js';
import { objectPage } from '/console/object.js';

export function objectsView(state, actions) {
  return html`<section class="list" aria-label="Objects">
      ${tools(state, actions)}
      <div class="object-list" id="objects" tabindex="0" role="region" aria-label="The objects">
        ${listed(state, actions)}
      </div>
    </section>
    ${objectPage(state, actions)}`;
}

function tools({ kinds = [], objectKind, objectNamespace, objectSearch, objects }, actions) {
  const isNamespaced = kinds.find(({ word }) => word === objectKind)?.namespaced ?? true;
  return html`<div class="list-tools">
    <div class="pair">
      <label class="field"
        >Kind
        <select id="object-kind" @change=${(event) => actions.listKind(event.target.value)}>
          ${kinds.map(
            ({ kind, word }) =>
              html`<option value=${word} .selected=${word === objectKind}>
                ${groupOf(word) === '' ? kind : `${kind} (${groupOf(word)})`}
              </option>`,
          )}
        </select></label
      >
      ${
        isNamespaced
          ? html`<label class="field"
              >Namespace
              <input
                id="object-namespace"
                placeholder="all"
                maxlength="63"
                autocomplete="off"
                spellcheck="false"
                .value=${objectNamespace}
                @change=${(event) => actions.listNamespace(event.target.value.trim())}
            /></label>`
          : nothing
      }
    </div>
    <input
      type="search"
      id="object-search"
      placeholder="Name or label"
      aria-label="Find an object by name or label"
      .value=${objectSearch}
      @input=${(event) => actions.findObject(event.target.value)}
    />
    <p class="quiet" role="status">${objects?.key && !objects.problem ? countWords(objects) : ''}</p>
  </div>`;
}

function countWords({ items, matching, total }) {
  if (matching === total && items.length === total) return `${total} in all`;
  return items.length < matching
    ? `${items.length} of ${matching} that match are shown`
    : `${matching} of ${total} match`;
}

function listed(state, actions) {
  const { objects, object: open, objectKind, problems } = state;
  if (!objects || objects.kind !== objectKind) return empty('Reading …', '');
  if (objects.problem)
    return empty(
      'Not shown',
      `${objects.problem}. If you have rights in one namespace only, enter it above.`,
    );
  if (objects.items.length === 0) return empty('None', 'Try another kind, namespace or word.');
  const wrong = new Map(
    (problems?.problems ?? []).map((each) => [
      `${each.kind} ${each.namespace ?? ''} ${each.name}`,
      each.state,
    ]),
  );
  const kind = (state.kinds ?? []).find(({ word }) => word === objectKind)?.kind;
  return html`<ul>
    ${objects.items.map(({ created, deleting, name, namespace }) => {
      const object = [objectKind, ...(namespace ? [namespace] : []), name].join('/');
      const is = deleting ? 'deleting' : wrong.get(`${kind} ${namespace ?? ''} ${name}`);
      return html`<li>
        <button
          class="plain object-row"
          aria-current=${object === open ? 'true' : nothing}
          @click=${() => actions.openObject(object)}
        >
          <span class="name"
            >${namespace ? html`<span class="ns">${namespace}/</span>` : nothing}${name}</span
          >
          ${is ? chip(is) : nothing}
          <span class="quiet">${created ? ago(Date.parse(created), state.nowMs) : ''}</span>
        </button>
      </li>`;
    })}
  </ul>`;
}

const TYPING_MS = 250;

/** @param page see `page` in console.js */
export function objectsActions({ amend, go, set, state }) {
  let typing;
  let reading = 0;

  const listObjects = async () => {
    if (state.tab !== 'objects') return;
    if (!state.kinds) await learnKinds();
    const { objectKind: kind, objectNamespace, objectSearch } = state;
    const query = new URLSearchParams();
    if (objectNamespace) query.set('namespace', objectNamespace);
    if (objectSearch) query.set('find', objectSearch);
    const turn = ++reading;
    const answer = await call('GET', `/admin/objects/${kind}?${query}`).catch((error) => ({
      problem: error.message,
    }));
    // A later question has been asked meanwhile.
    if (turn === reading) set({ objects: { key: `${kind}?${query}`, kind, ...answer } });
  };

  const learnKinds = async () => {
    const kinds = await call('GET', '/admin/objects').catch(() => undefined);
    if (kinds) set({ kinds });
  };

  return {
    learnKinds,
    listObjects,
    listKind(objectKind) {
      go({ objectKind, objectSearch: '' });
      void listObjects();
    },
    listNamespace(objectNamespace) {
      go({ objectNamespace });
      void listObjects();
    },
    findObject(objectSearch) {
      amend({ objectSearch });
      clearTimeout(typing);
      typing = setTimeout(() => void listObjects(), TYPING_MS);
    },
    /** The objects of a kind, as far as a name goes. */
    listAs({ find = '', kind, namespace = '' }) {
      go({
        tab: 'objects',
        objectKind: kind,
        objectNamespace: namespace,
        objectSearch: find,
        object: undefined,
      });
      void listObjects();
    },
  };
}
