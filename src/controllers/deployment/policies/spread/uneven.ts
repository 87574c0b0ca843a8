import type { DeepReadonly, Pod, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { NodeLabels } from '../../../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

/** A topologySpreadConstraint of a template, as far as moves of its own pods depend on it. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
}

/** The constraints of a template that select its own pods. */
export function ownConstraints(template: DeepReadonly<PodTemplateSpec>): readonly SpreadConstraint[] {
  const stated = template.spec?.topologySpreadConstraints ?? [];
  return stated
    .filter(
      ({ labelSelector }) => tryCompileLabelSelector(labelSelector)?.(template.metadata?.labels) === true,
    )
    .map(({ maxSkew, topologyKey }) => ({ maxSkew, topologyKey }));
}

/** The pods of each domain, empty ones included. @returns undefined if the domains are not known */
function byDomain(
  { topologyKey }: SpreadConstraint,
  pods: readonly ReadablePod[],
  nodes: NodeLabels,
): ReadonlyMap<string, readonly ReadablePod[]> | undefined {
  const domains = nodes.valuesOf?.(topologyKey);
  if (!domains || domains.length < 2) return undefined;
  const found = new Map<string, ReadablePod[]>(domains.map((domain) => [domain, []]));
  for (const pod of pods) found.get(nodes.valueOf(pod.spec.nodeName ?? '', topologyKey) ?? '')?.push(pod);
  return found;
}

/** The difference between the domains with the most and the fewest pods; 0 if the domains are not known. */
export function skewOf(
  constraint: SpreadConstraint,
  pods: readonly ReadablePod[],
  nodes: NodeLabels,
): number {
  const sizes = [...(byDomain(constraint, pods, nodes)?.values() ?? [])].map(({ length }) => length);
  return sizes.length === 0 ? 0 : Math.max(...sizes) - Math.min(...sizes);
}

/** A constraint that does not hold, and the pod that should be elsewhere. */
export interface Uneven {
  readonly constraint: SpreadConstraint;
  readonly skew: number;
  /** One of the fullest domain: the newest of it, and of equal ones the first by name. */
  readonly pod: ReadablePod;
}

/** The first constraint that does not hold. */
export function findUneven(
  constraints: readonly SpreadConstraint[],
  pods: readonly ReadablePod[],
  nodes: NodeLabels,
): Uneven | undefined {
  for (const constraint of constraints) {
    const skew = skewOf(constraint, pods, nodes);
    if (skew <= constraint.maxSkew) continue;
    const domains = [...(byDomain(constraint, pods, nodes)?.values() ?? [])];
    const [fullest = []] = domains.toSorted((a, b) => b.length - a.length);
    const [pod] = newestFirst(fullest);
    if (pod) return { constraint, skew, pod };
  }
  return undefined;
}

/** The newest first, and of equal ones the first by name. */
export function newestFirst(pods: readonly ReadablePod[]): readonly ReadablePod[] {
  const createdAt = ({ metadata }: ReadablePod): string => metadata.creationTimestamp ?? '';
  return pods.toSorted((a, b) =>
    createdAt(a) === createdAt(b)
      ? a.metadata.name < b.metadata.name
        ? -1
        : 1
      : createdAt(a) < createdAt(b)
        ? 1
        : -1,
  );
}
