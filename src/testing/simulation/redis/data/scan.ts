/**
 * A stretch of a scan. Names come in the order of a hash of theirs, so that a name that was
 * there all the time comes exactly once.
 * @returns where to go on, 0 at the end
 */
export function scanNames(
  names: readonly string[],
  cursor: number,
  count: number,
): { readonly next: number; readonly found: readonly string[] } {
  const ahead = names
    .map((name) => ({ name, place: placeOf(name) }))
    .filter(({ place }) => place >= cursor)
    .sort((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1));
  let end = Math.min(count, ahead.length);
  // Names of one place stay together: the cursor cannot point between them.
  while (end < ahead.length && ahead[end]?.place === ahead[end - 1]?.place) end += 1;
  const next = end < ahead.length ? (ahead[end - 1]?.place ?? 0) + 1 : 0;
  return { next, found: ahead.slice(0, end).map(({ name }) => name) };
}

/** FNV-1a of 32 bits, from 1 on: 0 is the begin of a scan. */
function placeOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash ^= name.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) + 1;
}
