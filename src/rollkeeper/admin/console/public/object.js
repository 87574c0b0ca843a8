// One object: its explanation, as `rollkeeper explain` has it, what it belongs to, its Events and YAML.
import { html, nothing } from '/console/lit-html.js';
import { ACTS_OF, actButtons } from '/console/acts.js';
import { call } from '/console/feed.js';
import { findingList, objectLink } from '/console/findings.js';
import { ago, backToList, chip, empty } from '/console/parts.js';
import { podLog } from '/console/pod-log.js';

export function objectPage(state, actions) {
  const { object: open, page } = state;
  if (!open)
    return html`<section class="detail" aria-label="Object">
      ${empty('Select an object', 'Its state, what it waits for, its Events and its YAML.')}
    </section>`;
  const [word, namespace, name] = partsOf(open);
  const seen = page?.object === open ? page : undefined;
  const { about, problem, why } = seen ?? {};
  return html`<section class="detail object" aria-label=${open}>
    <header>
      ${backToList('All objects', actions)}
      <p class="ns">${about?.kind ?? word}${namespace ? ` in ${namespace}` : ''}</p>
      <h2>${name} ${why ? chip(why.state) : nothing}</h2>
      ${why ? html`<p class="sentence">${why.sentence}</p>` : nothing}
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : nothing}
      ${!seen ? html`<p class="quiet">Reading …</p>` : nothing} ${acts(word, namespace, name, why, actions)}
    </header>
    ${relations(about, state, actions)} ${why ? findings(why, word, state, actions) : nothing}
    ${[...(about?.notes ?? []), ...(why?.notes ?? [])].map((note) => html`<p class="quiet">${note}</p>`)}
    ${word === 'pods' && about ? podLog(open, about, state, actions) : nothing}
    ${about ? html`${events(about.events, state.nowMs)} ${yaml(about)}` : nothing}
  </section>`;
}

/** `[word, namespace, name]`; objects of the cluster have no namespace. */
export function partsOf(object) {
  const parts = object.split('/');
  return parts.length < 3 ? [parts[0], undefined, parts[1]] : parts;
}

function acts(word, namespace, name, why, actions) {
  if (word === 'nodes') {
    const isCordoned = why?.waitsFor.some(({ cause }) => cause === 'node-cordoned');
    return actButtons(`nodes/${name}`, [isCordoned ? 'uncordon' : 'cordon', 'drain'], actions);
  }
  const path = `${word}/${namespace}/${name}`;
  if (word.startsWith('deployments')) {
    const key = `${namespace}/${name}${word === 'deployments' ? '' : '?api=rollkeeper.dev/v1'}`;
    return html`<p>
      <button class="plain" @click=${() => actions.openRollout(key)}>Its rollout</button>
    </p>`;
  }
  return ACTS_OF[word] ? actButtons(path, ACTS_OF[word], actions) : nothing;
}

const MADE_SHOWN = 30;

/** Owners, and what it made. */
function relations(about, state, actions) {
  if (!about || about.owners.length + about.made.length === 0) return nothing;
  const { made, owners } = about;
  return html`<dl class="relations">
    ${
      owners.length > 0
        ? html`<dt>Belongs to</dt>
            <dd>${owners.map((owner) => html`<span>${objectLink(owner, state, actions)}</span>`)}</dd>`
        : nothing
    }
    ${
      made.length > 0
        ? html`<dt>${made.length} ${made[0].kind}${made.length === 1 ? '' : 's'}</dt>
            <dd>
              ${made.slice(0, MADE_SHOWN).map((each) => html`<span>${objectLink(each, state, actions, true)}</span>`)}
              ${made.length > MADE_SHOWN ? html`<span class="quiet">and ${made.length - MADE_SHOWN} more</span>` : nothing}
            </dd>`
        : nothing
    }
  </dl>`;
}

function findings(why, word, state, actions) {
  const waitsFor = why.waitsFor ?? [];
  if (waitsFor.length === 0 && why.unblockedBy.length === 0) return nothing;
  const isWaiting = word === 'pods' && why.placement;
  return html`<h3 class="title">Waits for</h3>
    ${findingList(why, state, actions)}
    ${
      isWaiting
        ? html`<p>
            <button class="plain" @click=${() => actions.showPlacement(why.namespace, why.name)}>
              Why, per node
            </button>
          </p>`
        : nothing
    }`;
}

function events(list, nowMs) {
  return html`<h3 class="title" id="events">Events</h3>
    ${
      list.length === 0
        ? html`<p class="quiet">None. The API keeps Events for an hour.</p>`
        : html`<ul class="events">
            ${list.map(
              ({ count, first, from, last, message, reason, type }) =>
                html`<li class=${type === 'Warning' ? 'warning' : ''}>
                  <p>
                    <b>${reason}</b>
                    <span class="quiet" title=${`${first ?? ''} … ${last ?? ''}`}
                      >${last ? `${ago(Date.parse(last), nowMs)} ago` : ''}${count > 1 ? ` · ${count} times` : ''}
                      ${from ? ` · ${from}` : ''}</span
                    >
                  </p>
                  <p>${message}</p>
                </li>`,
            )}
          </ul>`
    }`;
}

function yaml({ managedFields, yaml: text }) {
  return html`<h3 class="title" id="yaml">YAML</h3>
    <pre class="yaml" tabindex="0" role="region" aria-label="YAML">${text}</pre>
    ${
      managedFields
        ? html`<details class="managed">
            <summary>Managed fields</summary>
            <pre class="yaml" tabindex="0" role="region" aria-label="Managed fields">${managedFields}</pre>
          </details>`
        : nothing
    }`;
}

/** @param page see `page` in console.js */
export function objectActions({ go, lookAround, set, state }) {
  let reading;

  const readObject = async () => {
    const { object } = state;
    if (state.tab !== 'objects' || !object || document.hidden || reading === object) return;
    reading = object;
    const path = object.split('/').map(encodeURIComponent).join('/');
    const [word, namespace, name] = partsOf(object);
    const why = word.startsWith('deployments')
      ? `deployments/${namespace}/${name}${word === 'deployments' ? '' : '?api=rollkeeper.dev/v1'}`
      : path;
    const problems = [];
    const asked = (promise) =>
      promise.catch((error) => {
        if (error.status) problems.push(error.message);
        return undefined;
      });
    const [about, explained] = await Promise.all([
      asked(call('GET', `/admin/objects/${path}`)),
      asked(call('GET', `/admin/explain/${why}`)),
    ]);
    reading = undefined;
    if (state.object !== object) return readObject();
    // Without an answer the feed shows what is gone, and the last look stays.
    if (about || explained || problems.length > 0)
      set({ page: { object, about, why: explained, problem: problems[0] } });
  };

  return {
    readObject,
    openObject(object) {
      const isListed = state.tab === 'objects';
      const [word, namespace, name] = partsOf(object);
      go({
        tab: 'objects',
        object,
        ...(!isListed && { objectKind: word, objectNamespace: namespace ?? '', objectSearch: '' }),
      });
      if (!isListed) lookAround();
      void readObject();
      document.querySelector('.detail.object')?.scrollTo({ top: 0 });
      return name;
    },
  };
}
