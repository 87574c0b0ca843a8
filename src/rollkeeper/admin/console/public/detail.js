// One Deployment: its totals against its limits, its pods, its state, and each decision.
import { html, nothing } from '/console/lit-html.js';
import {
  ago,
  backToList,
  chip,
  clockTime,
  countLetters,
  dots,
  empty,
  gauge,
  nameOf,
  PODS,
  total,
} from '/console/parts.js';
import { pathOfRollout, rolloutActs } from '/console/acts.js';
import { isTold, linkTo, objectLink, podLine } from '/console/findings.js';
import { timelineSection } from '/console/timeline.js';
import { checks, offers, revisions, track } from '/console/rollout.js';

export function detail(state, actions) {
  const item = state.deployments.get(state.selected);
  if (!item)
    return html`<section class="detail" aria-label="Deployment">
      ${empty('Select a rollout', 'Use the arrow keys to move through the list.')}
    </section>`;
  const why = state.explanation?.key === item.key ? state.explanation : undefined;
  const view = state.rollout?.key === item.key ? state.rollout : undefined;
  const [namespace, name] = nameOf(item);
  return html`<section class="detail" aria-label="${item.kind ?? 'Deployment'} ${namespace}/${name}">
    <header>
      ${backToList('All rollouts', actions)}
      <p class="ns">${namespace}${item.kind ? ` · ${item.kind}` : ''}</p>
      <h2>${name} ${chip(item.state, item.cause)}</h2>
      <p class="sentence" id="sentence">${why?.sentence ?? item.sentence}</p>
      <div class="act-row">${offers(item, view, why, actions)} ${rolloutActs(item, actions)}</div>
      ${ways(item, state, actions)}
    </header>
    ${state.look === 'timeline' ? timelineSection(item, state, actions) : now(item, view, why, state, actions)}
  </section>`;
}

function now(item, view, why, state, actions) {
  return html`${track(view)} ${gauges(item)} ${deadline(item)}
    <div class="sets">${item.sets.map(replicaSet)}</div>
    ${legend(item.sets)}
    <div class="columns">
      <div>
        ${checks(view)} ${causes(why, actions)} ${sums(why)} ${revisions(item, view, state.nowMs, actions)}
      </div>
      ${decisions(why?.lastDecisions ?? [], state.nowMs, actions)}
    </div>`;
}

/** Links to further pages: the object itself, its pods, its owner. */
function ways(item, state, actions) {
  const [namespace, name] = nameOf(item);
  const [kind, ownerName] = item.owner?.split('/') ?? [];
  const look = (id, word) =>
    html`<button class="plain" aria-pressed=${state.look === id} @click=${() => actions.lookAt(id)}>
      ${word}
    </button>`;
  return html`<p class="ways-on">
    <span class="look filters" role="group" aria-label="When">
      ${look('now', 'Now')}${look('timeline', 'Timeline')}
    </span>
    ${linkTo(pathOfRollout(item), 'Events and YAML', actions)}
    <button class="plain link" @click=${() => actions.listAs({ kind: 'pods', namespace, find: `${name}-` })}>
      Its pods
    </button>
    ${kind ? html`<span>owned by ${objectLink({ kind, name: ownerName, namespace }, state, actions)}</span>` : nothing}
  </p>`;
}

function gauges({ counts, kind, limits, sets }) {
  if (!limits) return nothing;
  const [newSize, oldSize] = [total(sets, 'new', 'size'), total(sets, 'old', 'size')];
  const [newUp, oldUp] = [total(sets, 'new', 'available'), total(sets, 'old', 'available')];
  const scale = Math.max(limits.ceiling, newSize + oldSize, counts.total, 1) * 1.06;
  return html`<div class="gauges">
    ${gauge({
      label: 'Requested',
      newCount: newSize,
      oldCount: oldSize,
      limit: limits.ceiling,
      limitWord: 'at most',
      scale,
      kind: 'asked',
      breached: newSize + oldSize > limits.ceiling,
    })}
    ${gauge({
      label: 'Available',
      newCount: newUp,
      oldCount: oldUp,
      limit: limits.floor,
      limitWord: 'at least',
      scale,
      kind: 'available',
      breached: newUp + oldUp < limits.floor,
    })}
    <p class="rule">
      ${
        limits.strategy === 'Recreate'
          ? html`Recreate: all old pods end before a new one starts.`
          : html`${limits.replicas} desired ·
            ${kind ? 'pods are replaced in place' : `maxSurge ${limits.maxSurge}`} · maxUnavailable
            ${limits.maxUnavailable}${limits.minReadySeconds > 0 ? ` · minReadySeconds ${limits.minReadySeconds}` : ''}`
      }
    </p>
  </div>`;
}

function deadline({ deadline: view, state }) {
  if (!view || state === 'complete' || state === 'scaled-to-zero') return nothing;
  if (view.exceeded)
    return html`<p class="deadline over">The progress deadline of ${view.seconds} s has passed.</p>`;
  if (view.remainingSeconds === undefined) return nothing;
  const left = Math.max(0, view.remainingSeconds);
  return html`<p class="deadline">
    <span>Progress deadline</span>
    <meter min="0" max=${view.seconds} low=${view.seconds / 4} .value=${left}>${left} s</meter>
    <span>${left} s left</span>
  </p>`;
}

function replicaSet(set) {
  return html`<article class="set ${set.role}">
    <header>
      <span class="role">${set.role}</span>
      <h3>${set.name}</h3>
      ${set.revision ? html`<span class="revision">revision ${set.revision}</span>` : nothing}
      <span class="image">${set.images.join(', ')}</span>
      <span class="size">${set.available}/${set.size} available</span>
    </header>
    ${dots(set.pods)}
  </article>`;
}

function legend(sets) {
  const letters = countLetters(sets.map(({ pods }) => pods).join(''));
  if (letters.length < 2 && letters[0]?.[0] !== 'c') return nothing;
  return html`<p class="legend" aria-hidden="true">
    ${letters.map(([letter]) => html`<span><i class="dot ${letter}"></i> ${PODS[letter]}</span>`)}
  </p>`;
}

function causes(why, actions) {
  if (!why) return nothing;
  const told = (finding) => isTold(why.sentence, finding);
  const shown = why.waitsFor.filter((finding) => !told(finding) || (finding.pods ?? []).length > 0);
  return html`${
    shown.length === 0
      ? nothing
      : html`<h3 class="title">Waits for</h3>
          <ul class="causes">
            ${shown.map(
              (finding) =>
                html`<li class=${finding.severity}>
                  <code>${finding.cause}</code>
                  ${told(finding) ? nothing : html`<p>${finding.summary}</p>`}
                  ${(finding.pods ?? [])
                    .slice(0, 5)
                    .map((pod) => podLine(pod, finding.cause, why.namespace, actions, finding.summary))}
                </li>`,
            )}
          </ul>`
  }
  ${
    why.unblockedBy.length === 0
      ? nothing
      : html`<h3 class="title">What would unblock it</h3>
          <ul class="ways">
            ${why.unblockedBy.map((way) => html`<li>${way}</li>`)}
          </ul>`
  }`;
}

function sums(why) {
  const sets =
    why?.replicaSets.filter(
      ({ because, pods, role, size }) => because.length > 0 && (role === 'new' || size > 0 || pods > 0),
    ) ?? [];
  if (sets.length === 0) return nothing;
  return html`<h3 class="title">Arithmetic</h3>
    <dl class="sums">
      ${sets.map(
        ({ because, name, role, size }) =>
          html`<dt>${name} <span>${role}, size ${size}</span></dt>
            ${because.map((sum) => html`<dd>${sum}</dd>`)}`,
      )}
    </dl>`;
}

function decisions(list, nowMs, actions) {
  return html`<div>
    <h3 class="title">Last decisions</h3>
    ${
      list.length === 0
        ? html`<p class="quiet">None since the replicas started.</p>`
        : html`<ol class="timeline">
            ${list.map(
              ({ actions: done, atMs, error, replica, setback, traceId }) =>
                html`<li class=${error ? 'failed' : setback ? 'setback' : ''}>
                  <p class="when">
                    <time title=${new Date(atMs).toISOString()}>${clockTime(atMs)}</time> ·
                    ${ago(atMs, nowMs)} ago · ${replica}
                  </p>
                  ${done.map((action) => html`<p>${action}</p>`)}
                  ${error ? html`<p class="error">${error}</p>` : nothing}
                  ${setback ? html`<p class="quiet">${setback}</p>` : nothing}
                  ${
                    traceId
                      ? html`<button class="plain trace" @click=${() => actions.showTrace(traceId)}>
                          trace <code>${traceId.slice(0, 8)}</code>
                        </button>`
                      : nothing
                  }
                </li>`,
            )}
          </ol>`
    }
  </div>`;
}
