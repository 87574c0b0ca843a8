/**
 * How many of each, as a span's attributes; of which there are none, nothing, as in most syncs: an attribute that says 0 costs
 * as much as one that tells something.
 */
export function counted(of: Readonly<Record<string, readonly unknown[]>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, { length }] of Object.entries(of)) if (length > 0) counts[name] = length;
  return counts;
}
