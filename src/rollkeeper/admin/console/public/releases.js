// The Deployments that change together, by the name of their release.

/** So many releases have a row of their own above the list; those that need attention come first. */
const MOST_SHOWN = 5;

/**
 * The releases of the Deployments: the state of each is the worst of its Deployments.
 * @param rankOf the rank of a state; the lowest is the worst
 * @param isSettled whether nothing is going on in a state
 */
export function releasesOf(items, rankOf, isSettled) {
  const found = new Map();
  for (const item of items) {
    if (item.release === undefined) continue;
    const namespace = item.key.slice(0, item.key.indexOf('/'));
    const id = `${namespace}/${item.release}`;
    const one = found.get(id) ?? { id, namespace, name: item.release, settled: 0, count: 0 };
    one.count++;
    if (isSettled(item.state)) one.settled++;
    if (one.state === undefined || rankOf(item.state) < rankOf(one.state)) {
      one.state = item.state;
      one.cause = item.cause;
    }
    found.set(id, one);
  }
  return [...found.values()].sort((a, b) => rankOf(a.state) - rankOf(b.state) || (a.id < b.id ? -1 : 1));
}

/** The releases that are shown, and how many there are beyond them. */
export function shownReleases(releases) {
  return { rows: releases.slice(0, MOST_SHOWN), more: Math.max(0, releases.length - MOST_SHOWN) };
}

/** The filter that finds the Deployments of a release, and of no other whose name begins alike. */
export function findRelease({ name, namespace }) {
  return `ns:=${namespace} release:=${name}`;
}
