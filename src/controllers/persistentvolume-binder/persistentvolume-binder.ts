import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  STORAGE_PROVISIONER,
  keyOf,
  storageClassNameOf,
} from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext } from '@rollkeeper/runtime';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  indexBy,
  updateStatus,
  watch,
} from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';
import { bind, setVolumePhase } from './bind.js';
import type { ReadableClaim, ReadableVolume } from './decide-claim.js';
import { decideClaim } from './decide-claim.js';
import { decideReclaim, decideVolume, unboundRef } from './decide-volume.js';

/** Claims by the volume that they name. */
const VOLUME_INDEX = 'volume';
/** Volumes by the claim that they are reserved for. */
const CLAIM_INDEX = 'claim';
/** Unbound claims, by class. */
const UNBOUND_INDEX = 'unbound';
/** Index value of a claim without a class. */
const BY_DEFAULT = '(default)';

const BETA_STORAGE_PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner';

type Sync = ReconcileContext<PersistentVolumeClaim>;

/**
 * Binds claims and volumes, and handles volumes whose claim was deleted. Its keys are those of claims, and the names of
 * volumes, which have no namespace. Source: k/k pkg/controller/volume/persistentvolume.
 */
export const persistentVolumeBinderController = clusterController<PersistentVolumeClaim>({
  name: 'persistentvolume-binder',
  serviceAccount: 'persistent-volume-binder',
  eventSource: 'persistentvolume-controller',
  for: PersistentVolumeClaim,
  // Two claims processed concurrently could choose the same volume.
  workers: 1,
  indexes: [
    indexBy(PersistentVolumeClaim, VOLUME_INDEX, ({ spec }) => (spec.volumeName ? [spec.volumeName] : [])),
    indexBy(PersistentVolumeClaim, UNBOUND_INDEX, (claim) =>
      isUnbound(claim) ? [storageClassNameOf(claim) ?? BY_DEFAULT] : [],
    ),
    indexBy(PersistentVolume, CLAIM_INDEX, ({ spec }) => (spec.claimRef ? [claimKey(spec.claimRef)] : [])),
  ],
  watches: [
    { ...watch(PersistentVolume, ({ metadata }) => [{ name: metadata.name }]), initially: true },
    watch(PersistentVolume, function* ({ metadata, spec }, listerOf) {
      const claims = listerOf(PersistentVolumeClaim);
      if (spec.claimRef) yield { namespace: spec.claimRef.namespace, name: spec.claimRef.name ?? '' };
      for (const claim of claims.byIndex(VOLUME_INDEX, metadata.name)) yield claim.metadata;
      // A free volume may match a waiting claim.
      const className = spec.claimRef ? undefined : (spec.storageClassName ?? '');
      if (className !== undefined)
        for (const claim of claims.byIndex(UNBOUND_INDEX, className)) yield claim.metadata;
    }),
    watch(PersistentVolumeClaim, function* (claim, listerOf) {
      if (claim.spec.volumeName) yield { name: claim.spec.volumeName };
      for (const { metadata } of listerOf(PersistentVolume).byIndex(CLAIM_INDEX, keyOf(claim.metadata)))
        yield { name: metadata.name };
    }),
    watch(StorageClass, function* ({ metadata }, listerOf) {
      for (const name of [metadata.name, BY_DEFAULT])
        for (const claim of listerOf(PersistentVolumeClaim).byIndex(UNBOUND_INDEX, name))
          yield claim.metadata;
    }),
  ],
  async reconcile({ name, namespace }, sync) {
    if (namespace === undefined) {
      const volume = sync.lister(PersistentVolume).get(name);
      if (volume) await syncVolume(volume, sync);
    } else if (sync.object) await syncClaim(sync.object, sync);
  },
});

async function syncClaim(claim: ReadableClaim, sync: Sync): Promise<void> {
  const { client, events, lister } = sync;
  const volumes = lister(PersistentVolume).list();
  const decision = decideClaim({ claim, volumes, classes: lister(StorageClass).list() });
  switch (decision.action) {
    case 'bind':
      await bind(decision.volume, claim, sync);
      break;
    case 'provision':
      await askFor(decision.provisioner, claim, sync);
      break;
    case 'set-class':
      await patchClaim(claim, { spec: { storageClassName: decision.className } }, sync);
      break;
    case 'lose':
      if (claim.status?.phase === 'Lost' || (await isVolumeThere(claim, sync))) return;
      await updateStatus(client, PersistentVolumeClaim, claim, withoutVolume(claim, 'Lost'));
      events.record(claim, decision.note);
      break;
    case 'wait':
      if (decision.note) events.record(claim, decision.note);
      await updateStatus(client, PersistentVolumeClaim, claim, withoutVolume(claim, 'Pending'));
      break;
    case 'nothing':
  }
}

/** Requests a volume from its provisioner. */
async function askFor(provisioner: string, claim: ReadableClaim, sync: Sync): Promise<void> {
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system ` +
    'administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.';
  sync.events.record(claim, { type: 'Normal', reason: 'ExternalProvisioning', message });
  if (claim.metadata.annotations?.[STORAGE_PROVISIONER] === provisioner) return;
  const annotations = { [STORAGE_PROVISIONER]: provisioner, [BETA_STORAGE_PROVISIONER]: provisioner };
  await patchClaim(claim, { metadata: { annotations } }, sync);
}

async function syncVolume(volume: ReadableVolume, sync: Sync): Promise<void> {
  const { claimRef } = volume.spec;
  const claims = sync.lister(PersistentVolumeClaim);
  const decision = decideVolume(volume, claimRef && claims.get(claimKey(claimRef)));
  switch (decision.action) {
    case 'set-phase':
      await setVolumePhase(volume, decision.phase, sync);
      break;
    case 'release':
      await release(volume, sync);
      break;
    case 'unbind':
      await unbind(volume, sync);
      break;
    case 'nothing':
  }
}

/** Data may be lost by this, so a stale cache is not enough. */
async function release(volume: ReadableVolume, sync: Sync): Promise<void> {
  const { client, events } = sync;
  const { claimRef } = volume.spec;
  const phase = volume.status?.phase;
  if (phase !== 'Released' && phase !== 'Failed') {
    const ref = { namespace: claimRef?.namespace, name: claimRef?.name ?? '' };
    const claim = await unlessGone(client.get<PersistentVolumeClaim>(PersistentVolumeClaim, ref));
    if (decideVolume(volume, claim).action !== 'release') return;
    // Its own change wakes it again, and then it is reclaimed.
    await setVolumePhase(volume, 'Released', sync);
    return;
  }
  const failure = decideReclaim(volume);
  if (!failure || phase === 'Failed') return;
  events.record(volume, failure);
  await setVolumePhase(volume, 'Failed', sync, failure.message);
}

async function unbind(volume: ReadableVolume, { client }: Sync): Promise<void> {
  const { name, resourceVersion, uid } = volume.metadata;
  const body = {
    metadata: { uid, resourceVersion, annotations: { [BOUND_BY_CONTROLLER]: null } },
    spec: { claimRef: unboundRef(volume) },
  };
  await client.patch(PersistentVolume, { name }, { type: 'merge', body });
}

async function isVolumeThere(claim: ReadableClaim, { client }: Sync): Promise<boolean> {
  const { volumeName } = claim.spec;
  if (!volumeName) return false;
  const volume = await unlessGone(client.get<PersistentVolume>(PersistentVolume, { name: volumeName }));
  const { uid } = volume?.spec.claimRef ?? {};
  return volume !== undefined && (uid === undefined || uid === claim.metadata.uid);
}

async function patchClaim({ metadata }: ReadableClaim, change: Change, { client }: Sync): Promise<void> {
  const { name, namespace, resourceVersion, uid } = metadata;
  const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
  await client.patch(PersistentVolumeClaim, { namespace, name }, { type: 'merge', body });
}

interface Change {
  readonly metadata?: object;
  readonly spec?: object;
}

function withoutVolume({ status }: ReadableClaim, phase: 'Pending' | 'Lost') {
  const { accessModes: _modes, capacity: _capacity, ...others } = { ...status };
  return { ...others, phase };
}

function isUnbound({ metadata, spec }: ReadableClaim): boolean {
  return !spec.volumeName && metadata.annotations?.[BIND_COMPLETED] === undefined;
}

function claimKey({ name = '', namespace }: NonNullable<DeepReadonly<PersistentVolume>['spec']['claimRef']>) {
  return keyOf({ namespace, name });
}
