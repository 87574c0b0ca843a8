import type { ApiClient } from '@rollkeeper/client/api-client';
import { isConflict } from '@rollkeeper/client/api-client';
import type { NamedVictim } from '@rollkeeper/controllers/deployment';
import {
  REMOVE_PODS,
  completeDeployment,
  isCustomDeployment,
  renderVictims,
  refusalOfRemoval,
} from '@rollkeeper/controllers/deployment';
import { FIRST_TO_GO, firstToGo, isNamed, renderFirstToGo } from '@rollkeeper/controllers/shared';
import type { SCALE_EXIT_CODES } from '../../terminal/exit-codes.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Pod,
  ReplicaSet,
  controllerOf,
  isControlledBy,
  isPodActive,
  qualifiedResource,
} from '@rollkeeper/machinery/kubernetes';

export interface ScaleRequest {
  readonly replicas: number;
  /** Names of the pods to remove. */
  readonly remove: readonly string[];
  readonly isDryRun: boolean;
  /** How long the controllers may take. */
  readonly timeoutMs: number;
}

export interface ScaleContext {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** `refused`: nothing has been done. `timed-out`: it has been asked for, and is not done yet. */
export interface ScaleEnd {
  readonly outcome: keyof typeof SCALE_EXIT_CODES;
  readonly message: string;
}

/** Writes of the controllers that may come in between. */
const MOST_ATTEMPTS = 10;
const LOOKS_EVERY_MS = 200;

/** The write, or why there is none. */
type Scaling =
  | { readonly refused: string }
  | {
      readonly from: number;
      readonly annotations: Readonly<Record<string, string>>;
      readonly victims: readonly DeepReadonly<Pod>[];
    };

/** Scales a Deployment, and has the named pods go with it: these, or nothing is done. */
export async function scaleDeployment(
  type: ResourceType,
  ref: ObjectRef,
  request: ScaleRequest,
  context: ScaleContext,
): Promise<ScaleEnd> {
  const { client, signal } = context;
  const decide = async (deployment: Deployment): Promise<Scaling> => {
    const [sets, pods] = await Promise.all([
      client.list<ReplicaSet>(ReplicaSet, { namespace: ref.namespace, signal }),
      client.list<Pod>(Pod, { namespace: ref.namespace, signal }),
    ]);
    return decideScaling(deployment, sets.items, pods.items, request, context.clock.now());
  };
  const written = await write(type, ref, request, context, decide);
  if ('outcome' in written) return written;
  const isAnswered = async (): Promise<boolean> => {
    const { metadata } = await client.get<Deployment>(type, ref, { signal });
    return metadata.annotations?.[REMOVE_PODS] === undefined;
  };
  if (request.remove.length > 0 && !(await within(request, context, isAnswered)))
    return { outcome: 'timed-out', message: `${written.name} is scaled, and no controller has answered yet` };
  const { spec } = await client.get<Deployment>(type, ref, { signal });
  if (request.remove.length > 0 && spec.replicas !== request.replicas)
    return {
      outcome: 'refused',
      message: `${written.name}: the controller has refused, since things changed meanwhile (see its Events); it has ${spec.replicas ?? 1} replicas`,
    };
  return ended(written, ref, request, context);
}

/** The same of a ReplicaSet that no Deployment controls. */
export async function scaleReplicaSet(
  ref: ObjectRef,
  request: ScaleRequest,
  context: ScaleContext,
): Promise<ScaleEnd> {
  const { client, signal } = context;
  const decide = async (replicaSet: ReplicaSet): Promise<Scaling> => {
    const { items } = await client.list<Pod>(Pod, { namespace: ref.namespace, signal });
    return decideReplicaSetScaling(replicaSet, items, request);
  };
  const written = await write(ReplicaSet, ref, request, context, decide);
  return 'outcome' in written ? written : ended(written, ref, request, context);
}

interface Written {
  readonly name: string;
  readonly from: number;
  readonly victims: readonly DeepReadonly<Pod>[];
}

/** Size and names in one write, against the version that was decided on. */
async function write<T extends Deployment | ReplicaSet>(
  type: ResourceType,
  ref: ObjectRef,
  request: ScaleRequest,
  { client, signal }: ScaleContext,
  decide: (object: T) => Promise<Scaling>,
): Promise<ScaleEnd | Written> {
  const name = `${qualifiedResource(type)}/${ref.name}`;
  for (let attempt = 1; ; attempt++) {
    const object = await client.get<T>(type, ref, { signal });
    const scaling = await decide(object);
    if ('refused' in scaling)
      return { outcome: 'refused', message: `${name} is left as it is: ${scaling.refused}` };
    const { annotations, from, victims } = scaling;
    if (request.isDryRun)
      return { outcome: 'would-do', message: `${name} would be ${inWords(from, victims, request)}` };
    const { resourceVersion } = object.metadata;
    const body = { metadata: { resourceVersion, annotations }, spec: { replicas: request.replicas } };
    try {
      await client.patch(type, ref, { type: 'merge', body }, { signal });
      return { name, from, victims };
    } catch (error) {
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

async function ended(
  { from, name, victims }: Written,
  { namespace }: ObjectRef,
  request: ScaleRequest,
  context: ScaleContext,
): Promise<ScaleEnd> {
  const { client, signal } = context;
  const named = firstToGo(request.replicas, victims);
  const areGone = async (): Promise<boolean> => {
    const { items } = await client.list<Pod>(Pod, { namespace, signal });
    return !items.some((pod) => isNamed(named, pod) && isPodActive(pod));
  };
  if (victims.length > 0 && !(await within(request, context, areGone)))
    return { outcome: 'timed-out', message: `${name} is scaled, and not all named pods have gone yet` };
  return { outcome: 'done', message: `${name} ${inWords(from, victims, request)}` };
}

async function within(
  { timeoutMs }: ScaleRequest,
  { clock, signal }: ScaleContext,
  isSo: () => Promise<boolean>,
): Promise<boolean> {
  const until = clock.monotonicNow() + timeoutMs;
  while (!(await isSo())) {
    if (clock.monotonicNow() >= until) return false;
    await clock.sleep(LOOKS_EVERY_MS, signal);
  }
  return true;
}

function inWords(from: number, victims: readonly DeepReadonly<Pod>[], { replicas }: ScaleRequest): string {
  const names = victims.map(({ metadata }) => metadata.name).join(', ');
  return `scaled from ${from} to ${replicas}${names === '' ? '' : `, without ${names}`}`;
}

/** By the decision that the controller itself will make. */
function decideScaling(
  found: Deployment,
  replicaSets: readonly ReplicaSet[],
  pods: readonly Pod[],
  { remove, replicas }: Pick<ScaleRequest, 'remove' | 'replicas'>,
  nowMs: number,
): Scaling {
  const deployment = isCustomDeployment(found) ? completeDeployment(found) : found;
  const from = deployment.spec.replicas ?? 1;
  if (remove.length === 0) return { from, annotations: {}, victims: [] };
  const own = replicaSets.filter((set) => isControlledBy(set, deployment));
  const uids = new Set(own.map(({ metadata }) => metadata.uid));
  const named = namedPods(remove, pods, (pod) => uids.has(controllerOf(pod)?.uid));
  if (typeof named === 'string') return { refused: named };
  const text = renderVictims(
    named.map(({ metadata }): NamedVictim => ({ name: metadata.name, uid: metadata.uid })),
  );
  const annotations = { ...deployment.metadata.annotations, [REMOVE_PODS]: text };
  const wanted = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...deployment.spec, replicas },
  };
  const refused = refusalOfRemoval({ deployment: wanted, replicaSets: own, pods, nowMs });
  if (refused !== undefined) return { refused };
  return { from, annotations: { [REMOVE_PODS]: text }, victims: named };
}

export function decideReplicaSetScaling(
  replicaSet: ReplicaSet,
  pods: readonly Pod[],
  { remove, replicas }: Pick<ScaleRequest, 'remove' | 'replicas'>,
): Scaling {
  const owner = controllerOf(replicaSet);
  if (owner) return { refused: `its size is for ${owner.kind} "${owner.name}" to say: scale that` };
  const from = replicaSet.spec.replicas ?? 1;
  if (remove.length === 0) return { from, annotations: {}, victims: [] };
  const own = pods.filter((pod) => isControlledBy(pod, replicaSet));
  const named = namedPods(remove, own, () => true);
  if (typeof named === 'string') return { refused: named };
  const given = Math.max(0, Math.min(from, own.filter(isPodActive).length) - replicas);
  if (named.length > given) return { refused: `${named.length} pods are named, and it gives up ${given}` };
  const first = renderFirstToGo(firstToGo(replicas, named, { beforeUnready: true }));
  return { from, annotations: { [FIRST_TO_GO]: first }, victims: named };
}

function namedPods(
  names: readonly string[],
  pods: readonly Pod[],
  isOwn: (pod: Pod) => boolean,
): readonly Pod[] | string {
  const found: Pod[] = [];
  for (const name of names) {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    if (!pod || !isOwn(pod)) return `pod "${name}" is not one of its pods`;
    if (found.includes(pod)) return `pod "${name}" is named twice`;
    if (!isPodActive(pod)) return `pod "${name}" is ending already`;
    found.push(pod);
  }
  return found;
}
