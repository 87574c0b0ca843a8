// The state of one moment in a time line, and the line of sizes. Pure.

const STATES_OF = new Set(['asked', 'change', 'ended', 'failed', 'good']);

const SCALED = /Scaled (?:up|down) replica set (\S+) from (\d+) to (\d+)/;

/** Without a lasting history the Events of an hour say how sizes changed. */
export function withSizesOfEvents(entries) {
  if (entries.some(({ kind }) => kind === 'sized')) return entries;
  return entries.map((entry) => {
    const [, replicaSet, from, to] = (entry.kind === 'event' && SCALED.exec(entry.what)) || [];
    if (replicaSet === undefined) return entry;
    return { ...entry, kind: 'sized', replicaSet, sizes: { from: Number(from), to: Number(to) } };
  });
}

export const atOf = ({ at }) => Date.parse(at);

/** The last moment of an entry. */
export const endOf = ({ at, until }) => Date.parse(until ?? at);

/** How it was at a moment, as far as the entries up to then tell. */
export function momentOf(entries, atMs) {
  const before = entries.filter((entry) => atOf(entry) <= atMs);
  const sizes = new Map();
  for (const { kind, replicaSet, sizes: size } of before)
    if (kind === 'sized' && replicaSet !== undefined && size?.to !== undefined)
      sizes.set(replicaSet, size.to);
  const asked = before.findLast(({ kind, revision }) => STATES_OF.has(kind) && revision !== undefined);
  const ended = before.findLast(({ kind, result, revision }) => {
    const isEnd = kind === 'ended' || kind === 'failed' || (kind === 'change' && result !== undefined);
    return isEnd && revision === asked?.revision;
  });
  const switched = before.findLast(({ kind }) => kind === 'paused' || kind === 'resumed');
  return {
    wanted: before.findLast(({ kind, sizes: size }) => kind === 'scaled' && size?.to !== undefined)?.sizes.to,
    sizes: [...sizes].filter(([, size]) => size > 0).map(([replicaSet, size]) => ({ replicaSet, size })),
    revision: asked?.revision,
    by: before.findLast(({ by, kind, revision }) => by && kind === 'asked' && revision === asked?.revision)
      ?.by,
    result: ended && (ended.result ?? (ended.kind === 'failed' ? 'failed' : 'complete')),
    isPaused: switched?.kind === 'paused',
    last: before.at(-1),
  };
}

/** The pods that were asked for over time: `[ms, size]`, each from its moment on. */
export function sizeSteps(entries) {
  const sizes = new Map();
  const firstOf = new Map();
  for (const { kind, replicaSet, sizes: size } of entries)
    if (kind === 'sized' && size?.from !== undefined && !firstOf.has(replicaSet))
      firstOf.set(replicaSet, size.from);
  // One of which nothing was said yet has the size that its first change began with.
  for (const [replicaSet, size] of firstOf) sizes.set(replicaSet, size);
  const steps = [];
  for (const entry of entries) {
    const { kind, replicaSet, sizes: size } = entry;
    if (kind !== 'sized' || size?.to === undefined) continue;
    const ms = atOf(entry);
    if (steps.length === 0) steps.push([ms, sum(sizes)]);
    sizes.set(replicaSet, size.to);
    // One decision sizes several: what is between them is never asked for.
    if (steps.length > 1 && steps.at(-1)[0] === ms) steps.pop();
    steps.push([ms, sum(sizes)]);
  }
  return steps;
}

/**
 * Why there is no chart, for people; undefined: sizes are known.
 * @param kind of the object: the sizes of Deployments alone are recorded, by their history and by Events
 */
export function whyNoChart(entries, kind) {
  if (entries.some(({ kind: of, sizes }) => (of === 'sized' || of === 'summary') && sizes)) return undefined;
  return kind === 'StatefulSet' || kind === 'DaemonSet'
    ? `There is no chart: Kubernetes does not record how many pods each version of a ${kind} had.`
    : 'There is no chart: no size was recorded in this period.';
}

function sum(sizes) {
  return [...sizes.values()].reduce((total, size) => total + size, 0);
}

/** The revision that ran before that of an entry. */
export function revisionBefore(entries, { at, revision }) {
  return entries.findLast(
    (each) =>
      STATES_OF.has(each.kind) &&
      each.revision !== undefined &&
      each.revision !== revision &&
      atOf(each) <= Date.parse(at),
  )?.revision;
}

/** The moments between which steps are made: each change, sizes and Events left out where there are others. */
export function stopsOf(entries) {
  const marked = entries.filter(({ kind }) => kind !== 'event' && kind !== 'sized');
  return [...new Set((marked.length > 0 ? marked : entries).map(atOf))].sort((a, b) => a - b);
}
