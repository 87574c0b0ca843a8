import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, givingPatch, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/runtime';
import { PersistentVolume, PersistentVolumeClaim, updateStatus } from '@rollkeeper/runtime';
import type { ReadableClaim, ReadableVolume } from './decide-claim.js';

interface BinderDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
}

type Phase = 'Available' | 'Bound' | 'Released' | 'Failed';

/**
 * Binds both sides to each other, the volume first, each before its status says Bound. Completed writes are not
 * repeated, so it resumes where it stopped. Each write fails against a newer state (409, retried by the queue). Source:
 * `bind` in k/k pkg/controller/volume/persistentvolume.
 */
export async function bind(
  volume: ReadableVolume,
  claim: ReadableClaim,
  { client, clock }: BinderDependencies,
): Promise<void> {
  const given = await giveTo(volume, claim, client);
  await setVolumePhase(given, 'Bound', { client, clock });
  const named = await nameVolume(claim, given, client);
  const isNewlyBound = named.status?.phase !== 'Bound';
  await updateStatus(client, PersistentVolumeClaim, named, {
    ...named.status,
    phase: 'Bound',
    accessModes: [...(given.spec.accessModes ?? [])],
    // Later a difference may mean that the claim is being resized.
    ...(isNewlyBound && { capacity: { ...given.spec.capacity } }),
  });
}

export async function setVolumePhase(
  volume: ReadableVolume,
  phase: Phase,
  { client, clock }: BinderDependencies,
  message?: string,
): Promise<void> {
  const { status } = volume;
  if (status?.phase === phase && status.message === message) return;
  const isChange = status?.phase !== phase;
  await updateStatus(client, PersistentVolume, volume, {
    phase,
    ...(message !== undefined && { message }),
    lastPhaseTransitionTime: isChange ? toRfc3339(clock.now()) : status.lastPhaseTransitionTime,
  });
}

async function giveTo(
  volume: ReadableVolume,
  claim: ReadableClaim,
  client: ApiClient,
): Promise<ReadableVolume> {
  const body = givingPatch(volume, claim);
  if (!body) return volume;
  const { name } = volume.metadata;
  return client.patch<PersistentVolume>(PersistentVolume, { name }, { type: 'merge', body });
}

async function nameVolume(
  claim: ReadableClaim,
  { metadata: { name: volumeName } }: ReadableVolume,
  client: ApiClient,
): Promise<ReadableClaim> {
  const { annotations = {}, name, namespace, resourceVersion, uid } = claim.metadata;
  const isOurChoice = claim.spec.volumeName !== volumeName;
  const bound = {
    ...annotations,
    [BIND_COMPLETED]: annotations[BIND_COMPLETED] ?? 'yes',
    ...(isOurChoice && { [BOUND_BY_CONTROLLER]: 'yes' }),
  };
  if (!isOurChoice && sameJson(bound, annotations)) return claim;
  const body = { metadata: { uid, resourceVersion, annotations: bound }, spec: { volumeName } };
  return client.patch<PersistentVolumeClaim>(
    PersistentVolumeClaim,
    { namespace, name },
    { type: 'merge', body },
  );
}
