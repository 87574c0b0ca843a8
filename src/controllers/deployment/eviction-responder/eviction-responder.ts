import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type {
  DeepReadonly,
  Deployment,
  Eviction as EvictionObject,
  KubernetesObject,
  Pod as PodObject,
  ReplicaSet as ReplicaSetObject,
  ResponderStatus,
} from '@rollkeeper/machinery/kubernetes';
import {
  DEPLOYMENT_RESPONDER,
  EVICTION_ASKED,
  Eviction,
  Pod,
  ReplicaSet,
  apiVersionOf,
  controllerOf,
  isEvictionToBeNoted,
  responderStatusOf,
} from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition, Kind, ListerOf, ReconcileContext } from '@rollkeeper/runtime';
import { defineController, findOwner, isConflict, unlessGone, updateStatus } from '@rollkeeper/runtime';
import {
  EVICTION_INDEX,
  HEARTBEAT_EVERY_MS,
  endOf,
  evictionsFor,
  openTurnOf,
  podOf,
  reported,
  watchEndingPods,
} from '../../shared/index.js';
import { deploymentTypeOf } from '../kubernetes/deployment-api.js';
import type { DeploymentApi } from '../kubernetes/deployment-api.js';
import { namespaceDefaults } from '../state/namespace-defaults.js';
import { decideResponse } from './decide-response.js';
import type { Response } from './decide-response.js';

/** The mark on the pod lapses after five minutes. It is repeated well before that. */
const ASKED_AGAIN_MS = 120_000;

/**
 * The responder of Deployments with `on-eviction: surge` to evictions by request (docs/ROLLOUTS.md). It marks the pod as the
 * `eviction` subresource does, so that the policy replaces the pod, and reports until the pod is gone. It has no state of its own:
 * all that it does follows from the Eviction, so another replica can continue.
 */
export function createEvictionResponder(apis: readonly DeploymentApi[]): ControllerDefinition {
  const kinds = apis.map(deploymentTypeOf);
  const traits = {
    name: 'eviction-surge',
    for: Eviction,
    queue: 'local',
    perNamespace: true,
    serviceAccount: 'deployment-controller',
  } as const;
  return defineController<EvictionObject>(traits, ({ informers }) => {
    const defaultsOf = namespaceDefaults(informers);
    return {
      indexes: [EVICTION_INDEX],
      reads: [ReplicaSet, ...kinds],
      watches: [watchEndingPods()],
      predicates: [
        ({ object, type }) =>
          type !== 'deleted' && responderStatusOf(object, DEPLOYMENT_RESPONDER.name) !== undefined,
      ],
      async reconcile(_request, context) {
        const { client, clock, object: eviction } = context;
        if (!eviction) return {};
        const { name = '' } = eviction.spec.target.pod ?? {};
        const { namespace = '' } = eviction.metadata;
        const report = openTurnOf(eviction, DEPLOYMENT_RESPONDER.name);
        if (!report) {
          if (isCanceled(eviction)) await takeBack(eviction, context);
          return {};
        }
        const pod = await podOf(eviction, context);
        const nowMs = clock.now();
        const end = endOf(name, pod);
        const response = end || !pod ? undefined : await respond(pod, kinds, defaultsOf(namespace), context);
        const progress = end ?? response;
        if (!progress) return {};
        const asked = pod && response?.asks ? await ask(pod, nowMs, context) : undefined;
        // Each mark is reported. By that, this responder recognizes its own mark when it has to remove it.
        const isDue = asked !== undefined && isUnreported(asked, report, nowMs);
        const status = reported(eviction, report, { ...progress, isDue }, nowMs);
        if (status) await updateStatus<EvictionObject>(client, Eviction, eviction, status);
        if (progress.isDone) return {};
        return { requeueAfterMs: response?.asks ? ASKED_AGAIN_MS : HEARTBEAT_EVERY_MS };
      },
    };
  });
}

type Access = Pick<ReconcileContext, 'client' | 'signal'>;

/** Marks the pod for the policy of its Deployment, as the `eviction` subresource does. @returns the mark on the pod afterwards */
async function ask(pod: DeepReadonly<PodObject>, nowMs: number, access: Access): Promise<string | undefined> {
  if (!isEvictionToBeNoted(pod, nowMs)) return pod.metadata.annotations?.[EVICTION_ASKED];
  const asked = toRfc3339(nowMs);
  await note(pod, asked, access);
  return asked;
}

/** Whether a mark is newer than the last report. This responder has written neither a mark of the future nor one that is no time. */
function isUnreported(
  asked: string,
  { heartbeatTime }: DeepReadonly<ResponderStatus>,
  nowMs: number,
): boolean {
  const askedMs = Date.parse(asked);
  return askedMs <= nowMs && (heartbeatTime === undefined || askedMs > Date.parse(heartbeatTime));
}

/**
 * Removes the mark of an eviction that was canceled, so that a pod that may stay is not replaced. A mark that is newer than the
 * last report belongs to another request, and so does any mark while this responder has its turn in another eviction of the pod.
 */
async function takeBack(
  eviction: DeepReadonly<EvictionObject>,
  { lister, ...access }: Pick<ReconcileContext, 'client' | 'lister' | 'signal'>,
): Promise<void> {
  if (evictionsFor(eviction, lister).some((other) => openTurnOf(other, DEPLOYMENT_RESPONDER.name))) return;
  const { name = '', uid } = eviction.spec.target.pod ?? {};
  const pod = lister<PodObject>(Pod).get(`${eviction.metadata.namespace}/${name}`);
  const asked = pod?.metadata.uid === uid ? pod?.metadata.annotations?.[EVICTION_ASKED] : undefined;
  const { heartbeatTime } = responderStatusOf(eviction, DEPLOYMENT_RESPONDER.name) ?? {};
  if (!pod || asked === undefined || heartbeatTime === undefined) return;
  if (Date.parse(asked) <= Date.parse(heartbeatTime)) await note(pod, null, access);
}

function isCanceled({ status }: DeepReadonly<EvictionObject>): boolean {
  const turn = status?.targetResponders?.find(({ name }) => name === DEPLOYMENT_RESPONDER.name);
  return turn?.state === 'Canceled';
}

async function note(
  { metadata: { name, namespace, uid } }: DeepReadonly<PodObject>,
  value: string | null,
  { client, signal }: Access,
): Promise<void> {
  const body = { metadata: { uid, annotations: { [EVICTION_ASKED]: value } } };
  try {
    await unlessGone(client.patch<PodObject>(Pod, { namespace, name }, { type: 'merge', body }, { signal }));
  } catch (error) {
    // Another pod of the name.
    if (!isConflict(error)) throw error;
  }
}

/**
 * The response by the Deployment in the cache. A refusal passes the turn on for good, and the cache may be behind: it may not have the
 * owners of a new pod yet, or an older version of them. So a refusal is decided again by the Deployment in the API.
 */
async function respond(
  pod: DeepReadonly<PodObject>,
  kinds: readonly Kind<Deployment>[],
  namespaceAnnotations: Readonly<Record<string, string>> | undefined,
  { lister, ...access }: Pick<ReconcileContext, 'client' | 'lister' | 'signal'>,
): Promise<Response> {
  const cached = cachedDeployment(pod, lister, kinds);
  const response = decideResponse({ pod, deployment: cached, namespaceAnnotations });
  if (response.asks) return response;
  const deployment = await readDeployment(pod, kinds, access);
  return decideResponse({ pod, deployment, namespaceAnnotations });
}

/** By the UIDs of the owners, so that it is not another one of the name. */
function cachedDeployment(
  pod: DeepReadonly<PodObject>,
  lister: ListerOf,
  kinds: readonly Kind<Deployment>[],
): DeepReadonly<Deployment> | undefined {
  const set = findOwner(pod, ReplicaSet, lister(ReplicaSet));
  const found = kinds.map((kind) => set && findOwner(set, kind, lister(kind)));
  return found.find((each) => each !== undefined);
}

async function readDeployment(
  pod: DeepReadonly<PodObject>,
  kinds: readonly Kind<Deployment>[],
  access: Access,
): Promise<Deployment | undefined> {
  const set = await readOwner<ReplicaSetObject>(pod, ReplicaSet, access);
  for (const kind of kinds) {
    const deployment = set && (await readOwner(set, kind, access));
    if (deployment) return deployment;
  }
  return undefined;
}

async function readOwner<T extends KubernetesObject>(
  owned: DeepReadonly<KubernetesObject>,
  kind: Kind<T>,
  { client, signal }: Access,
): Promise<T | undefined> {
  const reference = controllerOf(owned);
  if (reference?.kind !== kind.kind || reference.apiVersion !== apiVersionOf(kind)) return undefined;
  const { namespace } = owned.metadata;
  const owner = await unlessGone(client.get<T>(kind, { namespace, name: reference.name }, { signal }));
  return owner?.metadata.uid === reference.uid ? owner : undefined;
}
