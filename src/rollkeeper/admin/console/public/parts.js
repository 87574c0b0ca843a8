// Small pieces that several views draw.
import { html, svg, nothing } from '/console/lit-html.js';

/** `[namespace, name]`; a key may also contain its API. */
export function nameOf({ key }) {
  return key.split('?')[0].split('/');
}

/** `StatefulSet` or `DaemonSet`; undefined for a Deployment. */
export function kindOf({ key }) {
  return new URLSearchParams(key.split('?')[1]).get('kind') ?? undefined;
}

export const STATES = {
  blocked: { word: 'Stuck', rank: 0 },
  degraded: { word: 'Degraded', rank: 1 },
  progressing: { word: 'Rolling out', rank: 2 },
  deleting: { word: 'Deleting', rank: 3 },
  paused: { word: 'Paused', rank: 4 },
  complete: { word: 'Complete', rank: 5 },
  healthy: { word: 'Healthy', rank: 5 },
  'scaled-to-zero': { word: 'Scaled to 0', rank: 6 },
};

/** The letters of the feed. */
export const PODS = {
  a: 'available',
  r: 'ready, not yet available',
  s: 'starting',
  p: 'pending',
  n: 'not ready',
  u: 'unschedulable',
  i: 'image not pulled',
  c: 'crashing',
  g: 'configuration missing',
  j: 'rejected by its node',
  t: 'terminating',
  o: 'terminating too long',
  f: 'ended',
};

const DOTS_DRAWN = 120;

/** The state in a word. @param cause why a rollout waits; it says more than that the rollout is under way */
export function chip(state, cause) {
  const wait = state === 'progressing' ? waitWord(cause) : undefined;
  const shown = wait === undefined ? state : cause === APPROVAL ? 'approval' : 'waiting';
  return html`<span class="chip ${shown}">${wait ?? STATES[state]?.word ?? state}</span>`;
}

const APPROVAL = 'waits-for-approval';

/** Tells whether a cause is the wait of a policy; the sentence names the budget, the check, or the rollout before. */
export function isWaitingFor(cause) {
  return /^waits-|^rollout-held$|^resizes-pods$|^check-failed$/.test(cause ?? '');
}

/** Undefined for a cause that is none of a policy. */
export function waitWord(cause) {
  if (cause === APPROVAL) return 'Waits for approval';
  return isWaitingFor(cause) ? 'Waiting' : undefined;
}

/** Back to the list, where there is no room for both (narrow.css). */
export function backToList(words, actions) {
  return html`<button class="plain back" @click=${() => actions.showList()}>‹ ${words}</button>`;
}

export function countLetters(pods) {
  const counts = new Map();
  for (const letter of pods) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return [...counts];
}

export function podWords(pods) {
  if (pods === '') return 'no pods';
  return countLetters(pods)
    .map(([letter, count]) => `${count} ${PODS[letter]}`)
    .join(', ');
}

/** One dot per pod, by state; also in words for screen readers. */
export function dots(pods) {
  const more = pods.length - DOTS_DRAWN;
  return html`<span class="dots" role="img" aria-label=${podWords(pods)}>
    ${[...pods.slice(0, DOTS_DRAWN)].map((letter) => html`<i class="dot ${letter}" title=${PODS[letter]}></i>`)}
    ${more > 0 ? html`<span class="more">+${more}</span>` : nothing}
  </span>`;
}

const percent = (part, whole) => `${whole > 0 ? Math.min(100, (100 * part) / whole) : 0}%`;

/** Sum of a field over the ReplicaSets of one role. */
export function total(sets, role, field) {
  return sets.filter((set) => set.role === role).reduce((sum, set) => sum + set[field], 0);
}

/** The whole rollout in one thin bar: new and old, strong where available. */
export function miniBar({ limits, sets }) {
  if (!limits) return html`<span class="mini none"></span>`;
  const [newSize, oldSize] = [total(sets, 'new', 'size'), total(sets, 'old', 'size')];
  const newUp = Math.min(newSize, total(sets, 'new', 'available'));
  const oldUp = Math.min(oldSize, total(sets, 'old', 'available'));
  const scale = Math.max(limits.replicas, newSize + oldSize, 1);
  const part = (kind, count) => html`<b class=${kind} .style=${`width:${percent(count, scale)}`}></b>`;
  return html`<span
    class="mini"
    role="img"
    aria-label="${newUp} of ${newSize} new and ${oldUp} of ${oldSize} old pods available"
    >${part('new', newUp)}${part('new weak', newSize - newUp)}${part('old', oldUp)}${part('old weak', oldSize - oldUp)}</span
  >`;
}

/** One sum against one limit. */
export function gauge({ label, newCount, oldCount, limit, limitWord, scale, kind, breached }) {
  const tooNear = limit / scale > 0.82;
  return html`<div class="gauge">
    <div class="gauge-head">
      <span>${label}</span>
      <span class="figures"
        ><b class="new">${newCount}</b> new + <b class="old">${oldCount}</b> old =
        <b>${newCount + oldCount}</b></span
      >
    </div>
    <div class="track ${kind}">
      <b class="new" .style=${`width:${percent(newCount, scale)}`}></b
      ><b class="old" .style=${`width:${percent(oldCount, scale)}`}></b>
      <i
        class="limit ${breached ? 'breached' : ''} ${tooNear ? 'left' : ''}"
        .style=${`left:${percent(limit, scale)}`}
        ><span>${limitWord} ${limit}</span></i
      >
    </div>
  </div>`;
}

/** A ring that runs empty. */
export function countdownRing(part) {
  const length = 2 * Math.PI * 9;
  return svg`<svg class="ring" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
    <circle cx="12" cy="12" r="9" class="ring-back"></circle>
    <circle cx="12" cy="12" r="9" class="ring-front" stroke-dasharray=${length}
      stroke-dashoffset=${length * (1 - Math.max(0, Math.min(1, part)))} transform="rotate(-90 12 12)"></circle>
  </svg>`;
}

export function clockTime(ms) {
  const time = new Date(ms);
  return time.toLocaleTimeString('en-GB');
}

export function ago(ms, nowMs) {
  const seconds = Math.max(0, Math.round((nowMs - ms) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}

export function empty(title, hint) {
  return html`<div class="empty">
    <strong>${title}</strong>
    <p>${hint}</p>
  </div>`;
}

/** The group in the word of a kind that two groups have: `example.com` of `deployments.example.com`; otherwise empty. */
export function groupOf(word) {
  const dot = word.indexOf('.');
  return dot < 0 ? '' : word.slice(dot + 1);
}
