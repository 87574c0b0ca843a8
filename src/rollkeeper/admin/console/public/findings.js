// The findings of an object, with their pods and objects, and the remedies.
import { html, nothing } from '/console/lit-html.js';
import { ago } from '/console/parts.js';

const NAMED = 5;

/** Whether a sentence that is shown above says the summary of a finding, which is then not repeated. */
export function isTold(sentence, { summary }) {
  return (sentence ?? '').includes(summary.replace(/\.$/, ''));
}

/** Findings, and what would help. The sentence above them is not repeated. */
export function findingList({ namespace, sentence, unblockedBy, waitsFor }, state, actions) {
  // A note is not what the sentence is about.
  const isAlone = sentence !== undefined && waitsFor.length === 1 && waitsFor[0].severity !== 'note';
  return html`${
    waitsFor.length === 0
      ? nothing
      : html`<ul class="causes">
          ${waitsFor.map((finding) =>
            findingItem(finding, isAlone || isTold(sentence, finding), namespace, state, actions),
          )}
        </ul>`
  }
  ${unblockedBy.length === 0 ? nothing : ways(unblockedBy)}`;
}

/** The remedies, one sentence each. */
export function ways(list) {
  return html`<p class="help-word">What would help</p>
    <ul class="ways">
      ${list.map((way) => html`<li>${way}</li>`)}
    </ul>`;
}

/** @param isRepeated whether the sentence above says the same */
function findingItem(finding, isRepeated, namespace, state, actions) {
  const { cause, objects = [], pods = [], severity, since, summary } = finding;
  return html`<li class=${severity}>
    <code>${cause}</code>
    ${since ? html`<span class="quiet" title=${since}>since ${ago(Date.parse(since), state.nowMs)}</span>` : nothing}
    ${isRepeated ? nothing : html`<p>${summary}</p>`}
    ${objects
      .slice(0, NAMED)
      .map(
        ({ detail, kind, name, namespace: of }) =>
          html`<p class="pod">
            ${objectLink({ kind, name, namespace: of }, state, actions)}${detail ? `: ${detail}` : ''}
          </p>`,
      )}
    ${pods.slice(0, NAMED).map((pod) => podLine(pod, cause, namespace, actions, summary))}
  </li>`;
}

/** A pod of a finding; of one that no node takes, each node says why. */
export function podLine({ message, name, node, reason }, cause, namespace, actions, said) {
  const object = `pods/${namespace}/${name}`;
  return html`<p class="pod">
    ${namespace ? linkTo(object, name, actions) : html`<b>${name}</b>`}${node ? html` on ${linkTo(`nodes/${node}`, node, actions)}` : ''}
    ${said.includes(reason) ? '' : reason}${message && !said.includes(message) ? `: ${message}` : ''}
    ${
      cause === 'unschedulable' && namespace
        ? html`<button class="plain" @click=${() => actions.showPlacement(namespace, name)}>
            Why, per node
          </button>`
        : nothing
    }
  </p>`;
}

/** The name of an object, as a link where its kind has pages. */
export function objectLink({ kind, name, namespace, word }, state, actions, short = false) {
  const known = word ?? (state.kinds ?? []).find((each) => each.kind === kind)?.word;
  const said = `${short ? '' : `${kind} `}${namespace && !short ? `${namespace}/` : ''}${name}`;
  if (known === undefined) return html`<b>${said}</b>`;
  return linkTo([known, ...(namespace ? [namespace] : []), name].join('/'), said, actions);
}

/** A link that opens an object's page. @param object `KIND/NAMESPACE/NAME` */
export function linkTo(object, words, actions) {
  const href = `?object=${encodeURIComponent(object)}#objects`;
  return html`<a
    class="object-link"
    href=${href}
    @click=${(event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      actions.openObject(object);
    }}
    >${words}</a
  >`;
}
