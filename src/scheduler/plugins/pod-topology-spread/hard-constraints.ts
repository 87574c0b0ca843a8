import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { NodeInfo, PodInfo } from '../../framework/node-info.js';
import type { SchedulingContext, Verdict } from '../../framework/plugin.js';
import { unresolvable, unschedulable } from '../../framework/status.js';
import type { Constraint } from './constraint.js';
import { countPodsOnAll, hasAllKeys, isCounted } from './constraint.js';

const MISMATCH = "node(s) didn't match pod topology spread constraints";
const UNEVEN = unschedulable(MISMATCH);
const NO_DOMAIN = unresolvable(`${MISMATCH} (missing required label)`);

/** The domains of one constraint, and how many pods are in each. */
interface Domains {
  readonly constraint: Constraint;
  readonly counts: ReadonlyMap<string, number>;
  /** The two domains with the fewest pods: the minimum is known also where one of them changes. */
  readonly fewest: readonly Domain[];
  /** The one domain that a what-if has changed: it touches no more than one node. */
  readonly changed?: Domain;
}

interface Domain {
  readonly value: string;
  readonly count: number;
}

export type SpreadState = readonly Domains[];

export function countDomains(
  { pod, snapshot }: SchedulingContext,
  constraints: readonly Constraint[],
): SpreadState {
  const { nodes } = snapshot;
  const areIn = nodes.map(({ node }) => hasAllKeys(node, constraints));
  return constraints.map((constraint) => {
    const counts = new Map<string, number>();
    const onNodes = countPodsOnAll(nodes, constraint, pod.pod.metadata.namespace);
    for (const [place, { node }] of nodes.entries()) {
      if (!areIn[place] || !constraint.includes(node)) continue;
      const value = node.metadata.labels![constraint.topologyKey]!;
      counts.set(value, (counts.get(value) ?? 0) + onNodes[place]!);
    }
    return { constraint, counts, fewest: twoFewest(counts) };
  });
}

function twoFewest(counts: ReadonlyMap<string, number>): readonly Domain[] {
  let first: Domain | undefined;
  let second: Domain | undefined;
  for (const [value, count] of counts) {
    const domain = { value, count };
    if (!first || count < first.count) {
      second = first;
      first = domain;
    } else if (!second || count < second.count) second = domain;
  }
  return [first, second].filter((domain) => domain !== undefined);
}

/** The state with one pod more (`by` 1) or less (−1) on the node. */
export function changeDomains(
  state: SpreadState,
  other: PodInfo,
  { node }: NodeInfo,
  { by, pod }: { readonly by: 1 | -1; readonly pod: PodInfo },
): SpreadState {
  const { namespace } = other.pod.metadata;
  const constraints = state.map(({ constraint }) => constraint);
  if (namespace !== pod.pod.metadata.namespace || !hasAllKeys(node, constraints)) return state;
  return state.map((domains) => {
    const { constraint } = domains;
    if (!isCounted(constraint, other.pod) || !constraint.includes(node)) return domains;
    const value = node.metadata.labels![constraint.topologyKey]!;
    return { ...domains, changed: { value, count: countIn(domains, value) + by } };
  });
}

function countIn({ changed, counts }: Domains, value: string): number {
  return changed?.value === value ? changed.count : (counts.get(value) ?? 0);
}

export function filterSpread({ node }: NodeInfo, { pod }: SchedulingContext, state: SpreadState): Verdict {
  for (const domains of state) {
    const { maxSkew, selects, topologyKey } = domains.constraint;
    const value = ownField(node.metadata.labels, topologyKey);
    if (value === undefined) return NO_DOMAIN;
    const own = selects(pod.pod.metadata.labels) ? 1 : 0;
    if (countIn(domains, value) + own - fewestOf(domains) > maxSkew) return UNEVEN;
  }
  return undefined;
}

function fewestOf({ changed, constraint, counts, fewest }: Domains): number {
  if (counts.size < constraint.minDomains) return 0;
  if (!changed) return fewest[0]?.count ?? 0;
  const other = fewest.find(({ value }) => value !== changed.value);
  return Math.min(changed.count, other?.count ?? Infinity);
}
