import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { nanosOf } from '@rollkeeper/machinery/kubernetes';
import { PersistentVolume, PersistentVolumeClaim } from '@rollkeeper/runtime';
import { clusterController } from '../shared/index.js';

type Claim = DeepReadonly<PersistentVolumeClaim>;

/** Whether a claim is bound and asks for more than it has. */
export function isToBeExpanded(
  { spec, status }: Claim,
  volume: DeepReadonly<PersistentVolume> | undefined,
): boolean {
  return (
    status?.phase === 'Bound' && volume !== undefined && asks(spec) > nanosOf(status.capacity?.['storage'])
  );
}

function asks({ resources }: Claim['spec']): bigint {
  return nanosOf(resources?.requests?.['storage']);
}

/**
 * Says of claims that have become larger than their volumes that a driver's resizer has to see to them: no volume is built
 * in that could be expanded here. Source: k/k pkg/controller/volume/expand.
 */
export const persistentVolumeExpanderController = clusterController<PersistentVolumeClaim>({
  name: 'persistentvolume-expander',
  serviceAccount: 'expand-controller',
  eventSource: 'volume_expand',
  for: PersistentVolumeClaim,
  predicates: [
    (event) =>
      event.type === 'added' ||
      (event.type === 'modified' && asks(event.old.spec) !== asks(event.object.spec)),
  ],
  reads: [PersistentVolume],
  async reconcile(_request, { events, lister, object: claim }) {
    const volume = claim && lister(PersistentVolume).get(claim.spec.volumeName ?? '');
    if (!claim || volume?.spec.claimRef?.uid !== claim.metadata.uid || !isToBeExpanded(claim, volume)) return;
    const message = 'waiting for an external controller to expand this PVC';
    events.record(claim, { type: 'Normal', reason: 'ExternalExpanding', message });
  },
});
