import type {
  DeepReadonly,
  Eviction as EvictionObject,
  WithEvictionResponders,
} from '@rollkeeper/machinery/kubernetes';
import {
  Eviction,
  EvictionRequest,
  Pod,
  hasEvictionEnded,
  isPodFinished,
  semanticEqual,
} from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext, ResourceEvent } from '@rollkeeper/runtime';
import { unlessGone, updateStatus, watch } from '@rollkeeper/runtime';
import {
  TARGET_INDEXES,
  clusterController,
  evictionsFor,
  requestsFor,
  watchEndingPods,
} from '../shared/index.js';
import type { SeenTarget } from './decide-eviction.js';
import { decideEviction, decideMetadata } from './decide-eviction.js';
import { activeOf, answering, decideRequest, isOver } from './decide-request.js';

/** A responder has this time to report that its pod is gone. After that its turn counts as interrupted. */
const REPORT_WITHIN_MS = 5000;

/**
 * Creates the evictions that are requested, and copies their results to the requests: a preview of Kubernetes 1.37 (KEP-4563).
 * Source: k/k pkg/controller/evictionrequest.
 */
export const evictionRequestController = clusterController<EvictionRequest>({
  name: 'evictionrequest',
  for: EvictionRequest,
  reads: [Pod],
  indexes: TARGET_INDEXES,
  watches: [
    watch<EvictionObject>(
      Eviction,
      (eviction, listerOf) => requestsFor(eviction, listerOf).map(({ metadata }) => metadata),
      hasNewResult,
    ),
  ],
  async reconcile({ namespace }, context) {
    const { client, clock, lister, object: request, signal } = context;
    const { pod } = request?.spec.target ?? {};
    if (!request || !pod || isOver(request)) return {};
    const evictions = answering(evictionsFor(request, lister));
    const cachedUid = lister<Pod>(Pod).get(`${namespace}/${pod.name}`)?.metadata.uid;
    const isUnknown = evictions.length === 0 && cachedUid !== pod.uid;
    const decision = decideRequest({
      ...{ request, evictions },
      requests: requestsFor(request, lister),
      podUid: isUnknown ? (await readPod(pod.name, namespace, context))?.metadata.uid : cachedUid,
      isTaken: (name) => lister<EvictionObject>(Eviction).get(`${namespace}/${name}`) !== undefined,
      nowMs: clock.now(),
    });
    if (!decision) return {};
    if (decision.creates) await client.create<EvictionObject>(Eviction, decision.creates, { signal });
    await updateStatus<EvictionRequest>(client, EvictionRequest, request, decision.status);
    return {};
  },
});

/** Gives the responders of each eviction their turns, and records its result. Kubernetes has it in one controller with the above. */
export const evictionController = clusterController<EvictionObject>({
  name: 'eviction',
  for: Eviction,
  serviceAccount: 'evictionrequest-controller',
  indexes: TARGET_INDEXES,
  watches: [
    watch<EvictionRequest>(EvictionRequest, (request, listerOf) =>
      evictionsFor(request, listerOf)
        .filter((eviction) => isConcerned(eviction, request))
        .map(({ metadata }) => metadata),
    ),
    watchEndingPods(REPORT_WITHIN_MS),
  ],
  async reconcile(_request, context) {
    const { client, clock, lister, object: eviction, signal } = context;
    if (!eviction) return {};
    const requests = requestsFor(eviction, lister);
    const active = activeOf(evictionsFor(eviction, lister));
    const decision = hasEvictionEnded(eviction)
      ? undefined
      : decideEviction({
          ...{ eviction, requests, nowMs: clock.now() },
          target: await targetOf(eviction, context),
          isDuplicate: active !== undefined && active.metadata.uid !== eviction.metadata.uid,
        });
    // The labels and owners follow from the status, and are not written against a version.
    if (decision) await updateStatus<EvictionObject>(client, Eviction, eviction, decision.status);
    const missing = decideMetadata(decision ? { ...eviction, status: decision.status } : eviction, requests);
    if (missing) {
      const body = { metadata: { uid: eviction.metadata.uid, ...missing } };
      await unlessGone(
        client.patch<EvictionObject>(Eviction, eviction.metadata, { type: 'merge', body }, { signal }),
      );
    }
    return decision?.recheckMs === undefined ? {} : { requeueAfterMs: decision.recheckMs };
  },
});

/** The requests copy the conditions alone, so they are not woken by each sign of life of a responder. */
function hasNewResult(event: ResourceEvent<EvictionObject>): boolean {
  if (event.type !== 'modified') return true;
  return !semanticEqual(event.old.status?.conditions, event.object.status?.conditions);
}

/** A request concerns the evictions of its target that go on. One that has ended only gets it as an owner. */
function isConcerned(
  eviction: DeepReadonly<EvictionObject>,
  { metadata: { uid } }: DeepReadonly<EvictionRequest>,
): boolean {
  if (!hasEvictionEnded(eviction)) return true;
  return !eviction.metadata.ownerReferences?.some((owner) => owner.uid === uid);
}

/** Reads a pod from the API, because results are final and the cache may not have a new pod yet. */
async function readPod(
  name: string,
  namespace: string | undefined,
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
): Promise<Pod | undefined> {
  return unlessGone(client.get<Pod>(Pod, { namespace, name }, { signal }));
}

/** The target of an eviction. Caches do not keep the responders of pods, so they are read once, before the first turn. */
async function targetOf(
  eviction: DeepReadonly<EvictionObject>,
  context: Pick<ReconcileContext, 'client' | 'lister' | 'signal'>,
): Promise<SeenTarget> {
  const { metadata, spec, status } = eviction;
  const { namespace } = metadata;
  const { name = '', uid } = spec.target.pod ?? {};
  const cached = context.lister<Pod>(Pod).get(`${namespace}/${name}`);
  const isThere = cached !== undefined && cached.metadata.uid === uid;
  if (isThere && status?.targetResponders?.length)
    return { state: isPodFinished(cached) ? 'ended' : 'there', responders: [] };
  const pod = await readPod(name, namespace, context);
  if (!pod || pod.metadata.uid !== uid) return { state: 'gone', responders: [] };
  const state = isPodFinished(pod) ? 'ended' : 'there';
  const { evictionResponders: responders = [] }: typeof pod.spec & WithEvictionResponders = pod.spec;
  return { state, responders };
}
