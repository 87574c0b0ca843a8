import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ObjectRef, ReconcileContext } from '@rollkeeper/runtime';
import { Pod, watch, ResourceClaim, ResourceClaimTemplate } from '@rollkeeper/runtime';
import { WHOLE_PODS, clusterController, unlessGone } from '../shared/index.js';
import type { ClaimUpkeep } from './decide-claims.js';
import {
  DELETE_PROTECTION,
  claimNamesOfPod,
  claimsOfPod,
  claimsToReserve,
  decidePodClaim,
  decideUpkeep,
  hasClaims,
  isDone,
} from './decide-claims.js';

type ReadablePod = DeepReadonly<Pod>;
type ReadableClaim = DeepReadonly<ResourceClaim>;
type Sync = ReconcileContext<ResourceClaim>;

/** Its keys are those of claims, and of pods with this before their name, which no object's name can have. */
const POD = 'pod:';

/**
 * Makes the ResourceClaims of pods' templates, and removes pods that have ended or were deleted from the consumers of claims.
 * The devices of a claim are released with its last consumer. Source: k/k pkg/controller/resourceclaim.
 */
export const resourceClaimController = clusterController<ResourceClaim>({
  name: 'resourceclaim',
  serviceAccount: 'resource-claim-controller',
  aliases: ['resource-claim-controller'],
  for: ResourceClaim,
  trims: WHOLE_PODS,
  predicates: [({ type }) => type !== 'deleted'],
  watches: [
    {
      ...watch(Pod, concerned, ({ object }) => hasClaims(object)),
      initially: true,
    },
    watch(ResourceClaim, ownerOf, ({ type }) => type === 'deleted'),
    watch(
      ResourceClaimTemplate,
      ({ metadata: { name, namespace } }, listerOf) =>
        listerOf(Pod)
          .list()
          .filter(
            ({ metadata, spec }) =>
              metadata.namespace === namespace &&
              spec.resourceClaims?.some((each) => each.resourceClaimTemplateName === name),
          )
          .map(({ metadata }) => podRef(metadata)),
      ({ type }) => type === 'added',
    ),
  ],
  async reconcile({ name, namespace = '' }, sync) {
    if (!name.startsWith(POD)) {
      if (sync.object) await keepClaim(sync.object, sync);
      return;
    }
    const pod = sync.lister(Pod).get(keyOf({ namespace, name: name.slice(POD.length) }));
    // A claim of a pod that has ended is not made again.
    if (pod && pod.metadata.deletionTimestamp === undefined && !isDone(pod)) await serve(pod, sync);
  },
});

function podRef({ name, namespace }: ObjectRef): ObjectRef {
  return { namespace, name: `${POD}${name}` };
}

/** A pod, and the claims that it uses or owns. */
function* concerned(pod: ReadablePod): Generator<ObjectRef> {
  const { namespace } = pod.metadata;
  yield podRef(pod.metadata);
  for (const name of claimNamesOfPod(pod)) yield { namespace, name };
}

function ownerOf({ metadata }: ReadableClaim): ObjectRef[] {
  return (metadata.ownerReferences ?? [])
    .filter(({ controller, kind }) => controller && kind === Pod.kind)
    .map(({ name }) => podRef({ namespace: metadata.namespace, name }));
}

async function serve(pod: ReadablePod, sync: Sync): Promise<void> {
  const { client, events, lister } = sync;
  const { name, namespace, uid } = pod.metadata;
  const claims = lister(ResourceClaim)
    .list()
    .filter(({ metadata }) => metadata.namespace === namespace);
  const known = claimsOfPod(pod, claims);
  const made = new Map<string, string>();
  const tell = (podClaim: string, why: string): void =>
    events.record(pod, {
      type: 'Warning',
      reason: 'FailedResourceClaimCreation',
      message: `PodResourceClaim ${podClaim}: ${why}`,
    });
  for (const podClaim of pod.spec.resourceClaims ?? []) {
    const template = lister(ResourceClaimTemplate).get(
      keyOf({ namespace, name: podClaim.resourceClaimTemplateName ?? '' }),
    );
    const step = decidePodClaim(pod, podClaim, known, template);
    if (step.action === 'wait') tell(podClaim.name, step.why);
    if (step.action === 'record') made.set(podClaim.name, step.claimName);
    if (step.action !== 'create') continue;
    try {
      made.set(podClaim.name, (await client.create(ResourceClaim, step.claim)).metadata.name);
    } catch (error) {
      tell(podClaim.name, errorMessage(error));
      throw error;
    }
  }
  if (made.size > 0) {
    const kept = (pod.status?.resourceClaimStatuses ?? []).filter((each) => !made.has(each.name));
    const added = [...made].map(([each, resourceClaimName]) => ({ name: each, resourceClaimName }));
    const body = { metadata: { uid }, status: { resourceClaimStatuses: [...kept, ...added] } };
    await unlessGone(
      client.patch(Pod, { namespace, name }, { type: 'merge', body }, { subresource: 'status' }),
    );
  }
  for (const claim of claimsToReserve(pod, claims)) {
    const consumer = { resource: 'pods', name, uid: uid ?? '' };
    await writeStatus(claim, { reservedFor: [...(claim.status?.reservedFor ?? []), consumer] }, sync);
  }
}

async function keepClaim(claim: ReadableClaim, sync: Sync): Promise<void> {
  const { client, lister } = sync;
  const { name, namespace } = claim.metadata;
  const isCached = (pod: string): boolean => lister(Pod).get(keyOf({ namespace, name: pod })) !== undefined;
  const consumers = (claim.status?.reservedFor ?? []).map((each) => each.name);
  // The cache may not show a pod yet that is being scheduled.
  const fetched = new Map<string, ReadablePod | undefined>();
  for (const pod of consumers.filter((each) => !isCached(each)))
    fetched.set(pod, await unlessGone(client.get<Pod>(Pod, { namespace, name: pod })));
  const upkeep = decideUpkeep(
    claim,
    (pod) => lister(Pod).get(keyOf({ namespace, name: pod })) ?? fetched.get(pod),
  );
  if (!upkeep) return;
  const left = await release(claim, upkeep, sync);
  if (!left || !upkeep.isDeleted) return;
  const { resourceVersion, uid } = left.metadata;
  await unlessGone(
    client.delete(ResourceClaim, { namespace, name }, { preconditions: { uid, resourceVersion } }),
  );
}

/** Consumers and devices first, then the finalizer. */
async function release(
  claim: ReadableClaim,
  { isDeallocated, isReleased, reservedFor }: ClaimUpkeep,
  sync: Sync,
): Promise<ReadableClaim | undefined> {
  const isShorter = reservedFor.length < (claim.status?.reservedFor ?? []).length;
  const status = { reservedFor, ...(isDeallocated && { allocation: null, devices: null }) };
  const written = isShorter || isDeallocated ? await writeStatus(claim, status, sync) : claim;
  if (!written || !isReleased) return written;
  const { finalizers = [], name, namespace, resourceVersion, uid } = written.metadata;
  const others = finalizers.filter((each) => each !== DELETE_PROTECTION);
  const body = { metadata: { uid, resourceVersion, finalizers: others } };
  return unlessGone(
    sync.client.patch<ResourceClaim>(ResourceClaim, { namespace, name }, { type: 'merge', body }),
  );
}

async function writeStatus(
  { metadata }: ReadableClaim,
  status: object,
  { client }: Sync,
): Promise<ReadableClaim | undefined> {
  const { name, namespace, resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion }, status };
  return unlessGone(
    client.patch<ResourceClaim>(
      ResourceClaim,
      { namespace, name },
      { type: 'merge', body },
      { subresource: 'status' },
    ),
  );
}
