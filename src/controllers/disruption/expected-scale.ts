import type { DeepReadonly, KubernetesObject, OwnerReference, Pod } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, controllerOf } from '@rollkeeper/machinery/kubernetes';
import { TerminalError } from '@rollkeeper/machinery/errors';
import type { ApiClient, Kind, ListerOf } from '@rollkeeper/runtime';
import { Deployment, ReplicaSet, StatefulSet, isNotFound } from '@rollkeeper/runtime';

interface Scaled extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
}

interface ExpectedScale {
  /** Sum of the controllers' desired scale. */
  readonly scale: number;
  /** Pods without a controller, which are not included. */
  readonly unmanaged: readonly string[];
}

/**
 * The sum of the desired scale of the controllers of `pods`: a Deployment for its ReplicaSets, otherwise any controller
 * with a scale subresource. Source: `getExpectedScale` in k/k pkg/controller/disruption.
 * @throws TerminalError for a controller without a scale: only a change helps
 */
export async function expectedScale(
  pods: readonly DeepReadonly<Pod>[],
  listerOf: ListerOf,
  client: ApiClient,
): Promise<ExpectedScale> {
  const scales = new Map<string, number>();
  const unmanaged: string[] = [];
  const asked = new Set<string>();
  for (const pod of pods) {
    const controller = controllerOf(pod);
    if (!controller) unmanaged.push(pod.metadata.name);
    if (!controller || asked.has(controller.uid)) continue;
    asked.add(controller.uid);
    const { namespace = '' } = pod.metadata;
    const known = knownScale(controller, namespace, listerOf);
    const { scale, uid } = known ?? (await readScale(controller, namespace, client, pod.metadata.name));
    scales.set(uid, scale);
  }
  return { scale: [...scales.values()].reduce((sum, each) => sum + each, 0), unmanaged };
}

interface ScaleOf {
  readonly uid: string;
  readonly scale: number;
}

/** From the cache. If it has no such name and UID, the API decides whether the controller exists. */
function knownScale(
  owner: DeepReadonly<OwnerReference>,
  namespace: string,
  listerOf: ListerOf,
): ScaleOf | undefined {
  if (isOf(StatefulSet, owner))
    return scaleOf(listerOf(StatefulSet).get(`${namespace}/${owner.name}`), owner);
  if (!isOf(ReplicaSet, owner)) return undefined;
  const replicaSet = listerOf(ReplicaSet).get(`${namespace}/${owner.name}`);
  const rollout = replicaSet?.metadata.uid === owner.uid ? controllerOf(replicaSet) : undefined;
  if (!rollout || rollout.kind !== Deployment.kind) return scaleOf(replicaSet, owner);
  // Deployments of other groups count by their ReplicaSets.
  if (!isOf(Deployment, rollout)) return undefined;
  return scaleOf(listerOf(Deployment).get(`${namespace}/${rollout.name}`), rollout);
}

function scaleOf(
  object: DeepReadonly<Scaled> | undefined,
  { uid }: DeepReadonly<OwnerReference>,
): ScaleOf | undefined {
  return object?.metadata.uid === uid ? { uid, scale: object.spec?.replicas ?? 1 } : undefined;
}

function isOf(kind: Kind, { apiVersion, kind: name }: DeepReadonly<OwnerReference>): boolean {
  return name === kind.kind && apiVersion.startsWith(`${kind.group}/`);
}

async function readScale(
  { apiVersion, kind, name, uid }: DeepReadonly<OwnerReference>,
  namespace: string,
  client: ApiClient,
  pod: string,
): Promise<ScaleOf> {
  const { resources } = await client.discover();
  const type = resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (!type) throw new TerminalError(`found no controllers for pod "${pod}"`);
  try {
    const { spec = {} } = await client.get<Scaled>(type, { namespace, name }, { subresource: 'scale' });
    return { uid, scale: spec.replicas ?? 0 };
  } catch (error) {
    if (isNotFound(error)) throw new TerminalError(`found no controllers for pod "${pod}"`, { cause: error });
    throw error;
  }
}
