import type { ApiClient } from '../../kit/api-client/index.js';
import type { Deployment, Namespace, ObjectRef, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import {
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  REPLICA_SETS,
  controllerOf,
  isControlledBy,
} from '../../base/kubernetes/index.js';

/** A Deployment and what belongs to it, read from the API. */
export interface LiveDeployment {
  readonly deployment: Deployment;
  readonly replicaSets: readonly ReplicaSet[];
  readonly pods: readonly Pod[];
  readonly neighbours: readonly Deployment[];
  /** Undefined where we may not know. */
  readonly namespaceTerminating?: boolean;
}

export async function readLiveDeployment(client: ApiClient, ref: ObjectRef): Promise<LiveDeployment> {
  const { namespace } = ref;
  const [deployment, sets, pods, all, namespaceTerminating] = await Promise.all([
    client.get<Deployment>(DEPLOYMENTS, ref),
    client.list<ReplicaSet>(REPLICA_SETS, { namespace }),
    client.list<Pod>(PODS, { namespace }),
    client.list<Deployment>(DEPLOYMENTS, { namespace }),
    isTerminating(client, namespace),
  ]);
  const replicaSets = sets.items.filter((set) => isControlledBy(set, deployment));
  const uids = new Set(replicaSets.map(({ metadata }) => metadata.uid));
  return {
    deployment,
    replicaSets,
    pods: pods.items.filter((pod) => uids.has(controllerOf(pod)?.uid)),
    neighbours: all.items,
    namespaceTerminating,
  };
}

/** Many who may read Deployments may not read namespaces; an answer without this is better than none. */
async function isTerminating(client: ApiClient, name = 'default'): Promise<boolean | undefined> {
  try {
    const { metadata } = await client.get<Namespace>(NAMESPACES, { name });
    return metadata.deletionTimestamp !== undefined;
  } catch {
    return undefined;
  }
}

/** Runs `work` with a client of the API that a kubeconfig names (default: kubectl's rules). */
export async function withApi<T>(
  flags: { readonly kubeconfig?: string; readonly context?: string },
  work: (client: ApiClient) => Promise<T>,
): Promise<T> {
  // Only now: a process shall not hold in memory what another command needs.
  const { createHttpApiClient, loadKubeconfig } = await import('../../kit/api-client/index.js');
  const { SystemClock } = await import('../../base/clock/index.js');
  const { VERSION } = await import('../../base/version.js');
  const { silentLogger } = await import('../../base/logging/index.js');
  const clock = new SystemClock();
  const connection = await loadKubeconfig({ path: flags.kubeconfig, context: flags.context, clock });
  const client = createHttpApiClient({
    connection,
    userAgent: `rollkeeper/${VERSION} (cli)`,
    clock,
    logger: silentLogger,
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
