const SCALED = /^Normal ScalingReplicaSet Scaled (up|down) replica set (\S+) (?:from (-?\d+) )?to (-?\d+)$/;

/**
 * Merges scaling events: one event per ReplicaSet with its net change, after all others, by name. A controller that
 * takes fewer steps reports fewer intermediate sizes; everything else must be reported alike. An event that does not
 * start where the previous one ended is kept as it is; recordings of Kubernetes before 1.27 do not contain the start.
 * @param before the initial sizes; 0 for a ReplicaSet that is not in it
 */
export function netEvents(events: readonly string[], before: ReadonlyMap<string, number>): string[] {
  const others: string[] = [];
  const sizes = new Map<string, number>();
  for (const event of events) {
    const [, direction, name = '', from, to] = SCALED.exec(event) ?? [];
    const size = sizes.get(name) ?? before.get(name) ?? 0;
    const goesOn = from === undefined || Number(from) === size;
    if (direction !== undefined && goesOn && (direction === 'up') === Number(to) > size)
      sizes.set(name, Number(to));
    else others.push(event);
  }
  const scaled = [...sizes].flatMap(([name, after]) => netEvent(name, before.get(name) ?? 0, after));
  return [...others, ...scaled.sort()];
}

function netEvent(name: string, before: number, after: number): string[] {
  if (before === after) return [];
  const direction = after > before ? 'up' : 'down';
  return [`Normal ScalingReplicaSet Scaled ${direction} replica set ${name} from ${before} to ${after}`];
}
