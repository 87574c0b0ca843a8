import type { ApiClient } from '../../../src/client/api-client/index.js';
import { Deployment, Pod, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';

/** Everything that is not at rest, in words; empty when all is. */
export interface Unrest {
  readonly problems: readonly string[];
}

interface Snapshot {
  readonly deployments: readonly Deployment[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly pods: readonly Pod[];
}

/** (f) What the API shows of work that is still to be done. */
export async function findUnrest(client: ApiClient, namespace: string): Promise<string[]> {
  const [deployments, replicaSets, pods] = await Promise.all([
    client.list<Deployment>(Deployment, { namespace }),
    client.list<ReplicaSet>(ReplicaSet, { namespace }),
    client.list<Pod>(Pod, { namespace }),
  ]);
  return unrestOf({ deployments: deployments.items, replicaSets: replicaSets.items, pods: pods.items });
}

export function unrestOf({ deployments, pods, replicaSets }: Snapshot): string[] {
  const alive = new Set([...deployments, ...replicaSets].map(({ metadata }) => metadata.uid));
  return [
    ...deployments
      .filter((object) => !isRolledOut(object))
      .map(({ metadata, spec, status }) => {
        const { availableReplicas, observedGeneration, replicas, updatedReplicas } = status ?? {};
        const counts = JSON.stringify({ observedGeneration, replicas, updatedReplicas, availableReplicas });
        const progress = status?.conditions?.find(({ type }) => type === 'Progressing')?.message ?? '';
        return `Deployment ${metadata.name} (generation ${metadata.generation}, ${spec.replicas} wanted): ${counts} ${progress}`;
      }),
    ...replicaSets
      .filter(
        ({ metadata, spec, status }) =>
          !alive.has(controllerOf(metadata)) || status?.replicas !== spec.replicas,
      )
      .map(
        ({ metadata, spec, status }) =>
          `ReplicaSet ${metadata.name}: ${status?.replicas} of ${spec.replicas}`,
      ),
    ...pods
      .filter((pod) => cpuOf(pod) !== cpuAskedFor(pod, replicaSets))
      .map((pod) => `pod ${pod.metadata.name} has cpu ${cpuOf(pod)}, not ${cpuAskedFor(pod, replicaSets)}`),
    ...deployments
      .filter(isDegraded)
      .map(({ metadata }) => `Deployment ${metadata.name} says that it is degraded`),
    ...deployments.flatMap((deployment) => tooManyFailed(deployment, replicaSets, pods)),
    ...pods.filter(({ spec }) => !spec.nodeName).map(({ metadata }) => `pod ${metadata.name} is on no node`),
    ...pods
      .filter(({ metadata }) => metadata.deletionTimestamp || !alive.has(controllerOf(metadata)))
      .map(({ metadata }) => `pod ${metadata.name} is ending or nobody's`),
  ];
}

function isDegraded({ status }: Deployment): boolean {
  return (status?.conditions ?? []).some((each) => each.type === 'Degraded' && each.status !== 'False');
}

/** The ReplicaSets with more failed pods than \`failed-pods: keep N\` of their Deployment leaves. */
function tooManyFailed(
  { metadata }: Deployment,
  replicaSets: readonly ReplicaSet[],
  pods: readonly Pod[],
): string[] {
  const most = /^keep (\d+)/.exec(metadata.annotations?.['rollkeeper.dev/failed-pods'] ?? '')?.[1];
  if (most === undefined) return [];
  return replicaSets
    .filter((set) => controllerOf(set.metadata) === metadata.uid)
    .flatMap((set) => {
      const failed = pods.filter(
        (pod) => controllerOf(pod.metadata) === set.metadata.uid && pod.status?.phase === 'Failed',
      ).length;
      return failed > Number(most) ? [`ReplicaSet ${set.metadata.name} keeps ${failed} failed pods`] : [];
    });
}

function cpuOf({ spec }: Pick<Pod, 'spec'>): string {
  return String(spec.containers[0]?.resources?.requests?.['cpu']);
}

/** The CPU that the template of its ReplicaSet requests. */
function cpuAskedFor(pod: Pod, replicaSets: readonly ReplicaSet[]): string {
  const owner = replicaSets.find(({ metadata }) => metadata.uid === controllerOf(pod.metadata));
  const spec = owner?.spec.template?.spec;
  return spec ? cpuOf({ spec }) : cpuOf(pod);
}

function controllerOf(metadata: Pod['metadata']): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
}

export function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
  return (
    !metadata.deletionTimestamp &&
    status?.observedGeneration === metadata.generation &&
    counts.every((count) => (count ?? 0) === spec.replicas)
  );
}
