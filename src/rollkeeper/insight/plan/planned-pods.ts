import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isPodActive } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { podsToDelete } from '@rollkeeper/controllers/shared';

type ReadablePod = DeepReadonly<Pod>;

/**
 * The pods of a simulated rollout: those that run now by their names, and those that it would start. Which of them go is chosen as the
 * ReplicaSet controller chooses, by what the pods are like now.
 */
export class PlannedPods {
  private readonly bySet = new Map<string, ReadablePod[]>();
  private started = 0;

  /** @param live of all ReplicaSets; where none are known, nothing is said of names */
  constructor(private readonly live: readonly ReadablePod[]) {
    for (const pod of live) {
      const owner = controllerOf(pod)?.name;
      if (owner !== undefined && isPodActive(pod)) this.of(owner).push(pod);
    }
  }

  /** The pods that go when the ReplicaSet shrinks to `size`, in order. */
  shrink({ metadata }: ReplicaSet, size: number, nowMs: number): readonly string[] {
    const pods = this.of(metadata.name);
    const count = pods.length - size;
    if (this.live.length === 0 || count <= 0) return [];
    const related = [...this.bySet.values()].flat();
    const victims = podsToDelete({ pods, related, count, nowMs });
    this.bySet.set(
      metadata.name,
      pods.filter((pod) => !victims.includes(pod)),
    );
    return victims.map((pod) => pod.metadata.name);
  }

  /** Pods start and become ready until there are `size` of them. */
  grow(replicaSet: ReplicaSet, size: number, nowMs: number): void {
    const pods = this.of(replicaSet.metadata.name);
    while (pods.length < size) pods.push(startedPod(replicaSet, ++this.started, toRfc3339(nowMs)));
  }

  private of(replicaSet: string): ReadablePod[] {
    const pods = this.bySet.get(replicaSet) ?? [];
    this.bySet.set(replicaSet, pods);
    return pods;
  }
}

function startedPod({ metadata, spec }: ReplicaSet, number: number, now: string): ReadablePod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `a new pod of ${metadata.name}`,
      namespace: metadata.namespace,
      creationTimestamp: now,
    },
    // Two that start are not taken for two on one node.
    spec: { containers: [], ...spec.template?.spec, nodeName: `node of new pod ${number}` },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }] },
  };
}

const MOST_NAMED = 8;

/** `web-1, web-2 and 3 more go`; empty where no names are known. */
export function renderVictims(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, MOST_NAMED).join(', ');
  return `: ${shown}${more > 0 ? ` and ${more} more` : ''} ${names.length === 1 ? 'goes' : 'go'}`;
}
