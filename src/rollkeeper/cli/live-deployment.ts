import { InvalidOptionError, toError } from '@rollkeeper/machinery/errors';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isNotFound } from '@rollkeeper/client/api-client/api-status-error';
import {
  DEPLOYMENT_APIS,
  completeDeployment,
  deploymentTypeOf,
  isCustomDeployment,
} from '@rollkeeper/controllers/deployment';
import type { Deployment, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  controllerOf,
  isControlledBy,
  isPodReady,
} from '@rollkeeper/machinery/kubernetes';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import { notReadyNodes } from '../insight/explain/index.js';
import { findSetTarget } from '../insight/rollout/index.js';
import type { Target } from './target.js';

/** A Deployment and its dependents, read from the API. */
export interface LiveDeployment {
  readonly deployment: Deployment;
  readonly replicaSets: readonly ReplicaSet[];
  readonly pods: readonly Pod[];
  /** The pods that it controls itself. */
  readonly draining: readonly Pod[];
  readonly neighbours: readonly Deployment[];
  /** Undefined without the right to read it. */
  readonly namespaceTerminating?: boolean;
  /** Undefined where we may not know. */
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  /** Undefined where we may not know. */
  readonly nodesNotReady?: ReadonlyMap<string, string | undefined>;
}

/** @throws as {@link findDeployment} */
export async function readLiveDeployment(
  client: ApiClient,
  ref: ObjectRef,
  api?: string,
): Promise<LiveDeployment> {
  const { namespace } = ref;
  const { deployment: found, type } = await findDeployment(client, ref, api);
  const [sets, pods, all, itsNamespace] = await Promise.all([
    client.list<ReplicaSet>(ReplicaSet, { namespace }),
    client.list<Pod>(Pod, { namespace }),
    client.list<Deployment>(type, { namespace }),
    namespaceOf(client, namespace),
  ]);
  const deployment = complete(found);
  const replicaSets = sets.items.filter((set) => isControlledBy(set, deployment));
  const uids = new Set(replicaSets.map(({ metadata }) => metadata.uid));
  const own = pods.items.filter((pod) => uids.has(controllerOf(pod)?.uid));
  return {
    deployment,
    replicaSets,
    pods: own,
    draining: pods.items.filter((pod) => isControlledBy(pod, deployment)),
    nodesNotReady: await nodesNotReadyOf(client, own),
    neighbours: all.items.map(complete),
    namespaceTerminating: itsNamespace && itsNamespace.metadata.deletionTimestamp !== undefined,
    namespaceAnnotations: itsNamespace?.metadata.annotations,
  };
}

/** The Deployment, or the set in the form of one, that a command is about. @throws as {@link findDeployment} */
export async function findRollout(
  client: ApiClient,
  { api, ref, set }: Target,
  signal?: AbortSignal,
): Promise<{ readonly type: ResourceType; readonly deployment: Deployment }> {
  if (!set) return findDeployment(client, ref, api, signal);
  return findSetTarget(client, set === 'daemonset' ? DaemonSet : StatefulSet, ref, signal);
}

/**
 * A Deployment from whichever API has it.
 * @param api `apps/v1` or `rollkeeper.dev/v1`; needed only if both have one of that name
 * @throws InvalidOptionError for another API, or if both have one; ApiStatusError (404) if neither does
 */
export async function findDeployment(
  client: ApiClient,
  ref: ObjectRef,
  api?: string,
  signal?: AbortSignal,
): Promise<{ readonly type: ResourceType; readonly deployment: Deployment }> {
  const apis = DEPLOYMENT_APIS.filter((each) => api === undefined || each === api);
  if (apis.length === 0)
    throw new InvalidOptionError('api', `"${api}" is not one of ${DEPLOYMENT_APIS.join(', ')}`);
  const types = apis.map(deploymentTypeOf);
  const asked = await Promise.allSettled(types.map((type) => client.get<Deployment>(type, ref, { signal })));
  const found = asked.flatMap((answer, index) => {
    const type = types[index];
    return type && answer.status === 'fulfilled' ? [{ type, deployment: answer.value }] : [];
  });
  const [first, ...more] = found;
  if (more.length > 0)
    throw new InvalidOptionError('api', `is required: ${apis.join(' and ')} both have that name`);
  if (first) return first;
  const failures = asked.flatMap((answer) => (answer.status === 'rejected' ? [toError(answer.reason)] : []));
  throw failures.find((failure) => !isNotFound(failure)) ?? failures[0] ?? new Error('nothing was asked');
}

function complete(deployment: Deployment): Deployment {
  return isCustomDeployment(deployment) ? completeDeployment(deployment) : deployment;
}

/** Limit of nodes that are read one by one. */
const MOST_NODES = 20;

/** Many users may read Deployments but not nodes. */
async function nodesNotReadyOf(
  client: ApiClient,
  pods: readonly Pod[],
): Promise<ReadonlyMap<string, string | undefined> | undefined> {
  const names = new Set(pods.filter((pod) => !isPodReady(pod)).flatMap(({ spec }) => spec.nodeName ?? []));
  try {
    const asked = [...names].slice(0, MOST_NODES).map((name) => client.get<Node>(Node, { name }));
    return notReadyNodes(await Promise.all(asked));
  } catch {
    return undefined;
  }
}

/** Many users who may read Deployments may not read namespaces; an answer without this is better than none. */
async function namespaceOf(client: ApiClient, name = 'default'): Promise<Namespace | undefined> {
  try {
    return await client.get<Namespace>(Namespace, { name });
  } catch {
    return undefined;
  }
}
