import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { storageClassNameOf } from '@rollkeeper/machinery/kubernetes';
import type { EventType, ReconcileContext } from '@rollkeeper/runtime';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  isAlreadyExists,
  keyOf,
  updateStatus,
  watch,
} from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';
import { decideForClaim, isToBeDeleted } from './decide-volumes.js';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;
type Sync = ReconcileContext<PersistentVolumeClaim>;

/**
 * Simulates storage: creates, resizes and deletes the volumes of classes whose provisioner is
 * `simulator.rollkeeper.dev/volumes`. They hold no data. Its keys are those of claims, and the names of volumes, which
 * have no namespace.
 */
export const volumeProvisionerController = clusterController<PersistentVolumeClaim>({
  name: 'volume-provisioner',
  serviceAccount: null,
  for: PersistentVolumeClaim,
  predicates: [(event) => event.type !== 'deleted'],
  watches: [
    {
      ...watch(
        PersistentVolume,
        ({ metadata }) => [{ name: metadata.name }],
        ({ object, type }) => type !== 'deleted' && isToBeDeleted(object),
      ),
      initially: true,
    },
  ],
  reads: [StorageClass],
  async reconcile({ name, namespace }, sync) {
    if (namespace === undefined) {
      const volume = sync.lister(PersistentVolume).get(name);
      if (volume && isToBeDeleted(volume)) await remove(volume, sync);
    } else if (sync.object) await serve(sync.object, sync);
  },
});

async function serve(claim: Claim, sync: Sync): Promise<void> {
  const { lister } = sync;
  const storageClass = lister(StorageClass).get(storageClassNameOf(claim) ?? '');
  const volume = lister(PersistentVolume).get(claim.spec.volumeName ?? '');
  const decision = decideForClaim(claim, storageClass, volume);
  const tell = tellAbout(claim, sync);
  switch (decision.action) {
    case 'make':
      await make(claim, decision.volume, sync);
      break;
    case 'refuse': {
      const className = storageClassNameOf(claim);
      tell(
        'ProvisioningFailed',
        `failed to provision volume with StorageClass "${className}": ${decision.why}`,
        'Warning',
      );
      break;
    }
    case 'grow':
      if (volume) await grow(claim, volume, decision.size, sync);
      break;
    case 'nothing':
  }
}

async function make(claim: Claim, volume: PersistentVolume, sync: Sync): Promise<void> {
  const { client, lister } = sync;
  const { name } = volume.metadata;
  if (lister(PersistentVolume).get(name)) return;
  const tell = tellAbout(claim, sync);
  tell('Provisioning', `External provisioner is provisioning volume for claim "${keyOf(claim.metadata)}"`);
  try {
    await client.create(PersistentVolume, volume);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  tell('ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
}

async function grow(claim: Claim, volume: Volume, size: string | number, sync: Sync): Promise<void> {
  const { client } = sync;
  const { name, resourceVersion, uid } = volume.metadata;
  const tell = tellAbout(claim, sync);
  tell('Resizing', `External resizer is resizing volume ${name}`);
  const body = { metadata: { uid, resourceVersion }, spec: { capacity: { storage: size } } };
  await client.patch(PersistentVolume, { name }, { type: 'merge', body });
  const capacity = { ...claim.status?.capacity, storage: size };
  await updateStatus(client, PersistentVolumeClaim, claim, { ...claim.status, capacity });
  tell('VolumeResizeSuccessful', 'Resize volume succeeded');
}

async function remove({ metadata }: Volume, { client }: Sync): Promise<void> {
  const { name, resourceVersion, uid } = metadata;
  await unlessGone(client.delete(PersistentVolume, { name }, { preconditions: { uid, resourceVersion } }));
}

function tellAbout(claim: Claim, { events }: Sync) {
  return (reason: string, message: string, type: EventType = 'Normal'): void =>
    events.record(claim, { type, reason, message });
}
