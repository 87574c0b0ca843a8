const SCALED = /^Normal ScalingReplicaSet Scaled (?:up|down) replica set (\S+) to (-?\d+)$/;

/**
 * Events with those of scaling merged: for each ReplicaSet one that tells of its net change, after all others, by
 * name. Who takes fewer steps reports fewer sizes on the way; everything else must be reported alike.
 * @param before the sizes at the beginning; 0 for a ReplicaSet that is not in it
 */
export function netEvents(events: readonly string[], before: ReadonlyMap<string, number>): string[] {
  const others = events.filter((event) => !SCALED.test(event));
  const sizes = new Map<string, number>();
  for (const event of events) {
    const [, name, size] = SCALED.exec(event) ?? [];
    if (name !== undefined) sizes.set(name, Number(size));
  }
  const scaled = [...sizes].flatMap(([name, after]) => netEvent(name, before.get(name) ?? 0, after));
  return [...others, ...scaled.sort()];
}

function netEvent(name: string, before: number, after: number): string[] {
  if (before === after) return [];
  const direction = after > before ? 'up' : 'down';
  return [`Normal ScalingReplicaSet Scaled ${direction} replica set ${name} to ${after}`];
}
