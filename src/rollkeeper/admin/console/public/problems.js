// The problems, of every kind: one card for each object, with its findings and the remedies.
import { html, nothing } from '/console/lit-html.js';
import { actButtons } from '/console/acts.js';
import { call } from '/console/feed.js';
import { findingList, objectLink } from '/console/findings.js';
import { ago, chip, empty } from '/console/parts.js';

const SHOWN = 100;

export function problemsView(state, actions) {
  const { problems: look, problemSearch } = state;
  if (look?.refused) return empty('Not shown', look.refused);
  if (!look) return empty('Looking …', 'Reading a list of every kind.');
  const wanted = problemSearch.trim().toLowerCase();
  const found = look.problems.filter((problem) => wanted === '' || textOf(problem).includes(wanted));
  return html`<section class="page problems" aria-label="Problems">
    <h2 class="unseen">Problems</h2>
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
      <h3>${objectLink({ kind, name, namespace }, state, actions, true)}</h3>
      ${namespace === undefined ? nothing : html`<span class="quiet">in ${namespace}</span>`} ${chip(is)}
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
    ${findingList({ namespace, sentence, unblockedBy, waitsFor: findings }, state, actions)}
  </li>`;
}

function nodeActs(name, findings, actions) {
  const isCordoned = findings.some(({ cause }) => cause === 'node-cordoned');
  return actButtons(`nodes/${name}`, [isCordoned ? 'uncordon' : 'cordon', 'drain'], actions);
}

/** The actions of the page of problems. @param page see `page` in console.js */
export function problemActions({ amend, openRollout, set, state }) {
  let looking = false;
  return {
    openRollout,
    async lookForProblems() {
      if ((state.tab !== 'problems' && state.tab !== 'objects') || looking || document.hidden) return;
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
      amend({ problemSearch: text });
    },
  };
}
