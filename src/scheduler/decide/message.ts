import type { Status } from '../framework/status.js';

export const NO_NODES = 'no nodes available to schedule pods';

interface RefusalText {
  readonly nodes: number;
  readonly refusals: Iterable<Status>;
  /** Replaces all reasons. */
  readonly preFilterRefusal?: Status | undefined;
  /** The message of PostFilter. */
  readonly postFilter?: string | undefined;
}

/** The text of the PodScheduled condition: how many nodes were refused for which reasons, sorted as plain text. */
export function refusalMessage({ nodes, postFilter, preFilterRefusal, refusals }: RefusalText): string {
  const text = preFilterRefusal ? preFilterRefusal.reasons.join(', ') : countedReasons(refusals).join(', ');
  return `0/${nodes} nodes are available:${text ? ` ${text}.` : ''}${postFilter ? ` ${postFilter}` : ''}`;
}

function countedReasons(refusals: Iterable<Status>): string[] {
  const counts = new Map<string, number>();
  for (const { reasons } of refusals)
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, times]) => `${times} ${reason}`).sort(byBytes);
}

/** As Go sorts, not as people do: "10 x" comes before "2 y". */
function byBytes(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
