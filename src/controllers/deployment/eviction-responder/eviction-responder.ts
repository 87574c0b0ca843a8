import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type {
  DeepReadonly,
  Deployment,
  Eviction as EvictionObject,
  Pod as PodObject,
  ResponderStatus,
} from '@rollkeeper/machinery/kubernetes';
import {
  DEPLOYMENT_RESPONDER,
  EVICTION_ASKED,
  Eviction,
  Pod,
  ReplicaSet,
  controllerOf,
  isEvictionToBeNoted,
  responderStatusOf,
} from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition, ListerOf, ReconcileContext } from '@rollkeeper/runtime';
import { defineController, isConflict, unlessGone, updateStatus } from '@rollkeeper/runtime';
import {
  EVICTION_INDEX,
  HEARTBEAT_EVERY_MS,
  endOf,
  openTurnOf,
  podOf,
  reported,
  watchEndingPods,
} from '../../shared/index.js';
import { deploymentTypeOf } from '../kubernetes/deployment-api.js';
import type { DeploymentApi } from '../kubernetes/deployment-api.js';
import { namespaceDefaults } from '../state/namespace-defaults.js';
import { decideResponse } from './decide-response.js';

/** The request on the pod lapses after five minutes: it is repeated well before that. */
const ASKED_AGAIN_MS = 120_000;

/**
 * The responder of Deployments with `on-eviction: surge` to evictions by request (docs/ROLLOUTS.md): it marks the pod as the
 * `eviction` subresource does, so that the policy replaces it, and reports until the pod is gone. It keeps nothing: all that it
 * does follows from the Eviction, so that another replica goes on with it.
 */
export function createEvictionResponder(apis: readonly DeploymentApi[]): ControllerDefinition {
  const kinds = apis.map(deploymentTypeOf);
  const traits = {
    name: 'eviction-surge',
    for: Eviction,
    queue: 'local',
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
        const { client, clock, lister, object: eviction } = context;
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
        const deployment = pod && deploymentOf(pod, lister, kinds);
        const namespaceAnnotations = defaultsOf(namespace);
        const end = endOf(name, pod);
        const response = end || !pod ? undefined : decideResponse({ pod, deployment, namespaceAnnotations });
        const progress = end ?? response;
        if (!progress) return {};
        const asked = pod && response?.asks ? await ask(pod, nowMs, context) : undefined;
        // Each request on the pod is reported, so that it is known as one's own when it is to be taken back.
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

/** Marks the pod for the policy of its Deployment, as an eviction by the subresource does. @returns the mark that it has then */
async function ask(pod: DeepReadonly<PodObject>, nowMs: number, access: Access): Promise<string | undefined> {
  if (!isEvictionToBeNoted(pod, nowMs)) return pod.metadata.annotations?.[EVICTION_ASKED];
  const asked = toRfc3339(nowMs);
  await note(pod, asked, access);
  return asked;
}

/** Whether a mark is newer than the last report. A mark of the future, or one that is no time, is not from here. */
function isUnreported(
  asked: string,
  { heartbeatTime }: DeepReadonly<ResponderStatus>,
  nowMs: number,
): boolean {
  const askedMs = Date.parse(asked);
  return askedMs <= nowMs && (heartbeatTime === undefined || askedMs > Date.parse(heartbeatTime));
}

/**
 * Takes back the mark of an eviction that was canceled, so that no pod is replaced that may stay. One that is newer than the
 * last report is of another request.
 */
async function takeBack(
  eviction: DeepReadonly<EvictionObject>,
  { lister, ...access }: Pick<ReconcileContext, 'client' | 'lister' | 'signal'>,
): Promise<void> {
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

/** By the UIDs of the owners, so that it is not another one of the name. */
function deploymentOf(
  pod: DeepReadonly<PodObject>,
  lister: ListerOf,
  kinds: readonly ReturnType<typeof deploymentTypeOf>[],
): DeepReadonly<Deployment> | undefined {
  const { namespace } = pod.metadata;
  const byPod = controllerOf(pod);
  const set = byPod && lister(ReplicaSet).get(`${namespace}/${byPod.name}`);
  const bySet = set && set.metadata.uid === byPod.uid ? controllerOf(set) : undefined;
  const found = kinds.map((kind) => bySet && lister<Deployment>(kind).get(`${namespace}/${bySet.name}`));
  return found.find((each) => each !== undefined && each.metadata.uid === bySet?.uid);
}
