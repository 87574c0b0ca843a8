import { ownField, storageClassNameOf } from '@rollkeeper/machinery/kubernetes';
import type { PersistentVolume, StorageClass } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { ReadablePod } from '../../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin } from '../../framework/plugin.js';
import type { Status } from '../../framework/status.js';
import { SKIP, unresolvable } from '../../framework/status.js';
import type { Volume } from './pod-claims.js';
import { on, onObjects } from '../hints.js';
import { claimNotFound, claimedVolumesOf, isClaimOf, volumeNamed } from './pod-claims.js';
import { BETA_REGION, BETA_ZONE, REGION, ZONE, zonesIn } from './zone-labels.js';

/** The labels of volumes and nodes, with what they are called today. */
const TOPOLOGY_LABELS: ReadonlyMap<string, string> = new Map([
  [BETA_ZONE, ZONE],
  [BETA_REGION, REGION],
  [ZONE, ZONE],
  [REGION, REGION],
]);

interface VolumeTopology {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

const REFUSAL = unresolvable('node(s) had no available volume zone');

/** Keeps pods to the zones and regions of their volumes, by the labels of the volumes. */
export const volumeZone: PluginFactory = () => {
  const plugin: SchedulerPlugin<readonly VolumeTopology[]> = {
    name: 'VolumeZone',
    eventsToRegister: [
      onObjects<StorageClass>(
        'storage.k8s.io/storageclasses',
        ['add'],
        (_pod, _before, after) => after?.volumeBindingMode === 'WaitForFirstConsumer',
      ),
      on('nodes', 'add', 'update-node-labels'),
      onObjects('persistentvolumeclaims', ['add', 'update'], (pod, _before, after) => isClaimOf(pod, after)),
      onObjects<PersistentVolume>(
        'persistentvolumes',
        ['add', 'update'],
        (_pod, before, after) => !before || !after || !isSameTopology(before, after),
      ),
    ],
    preFilter({ pod: { pod }, view }) {
      const state = topologiesOf(pod, view);
      if ('code' in state) return { status: state };
      return state.length > 0 ? { state } : { status: SKIP };
    },
    filter({ node }, _context, topologies) {
      const { labels } = node.metadata;
      const isAnywhere = [...TOPOLOGY_LABELS.keys()].every((key) => ownField(labels, key) === undefined);
      if (isAnywhere) return undefined;
      const isWithin = ({ key, values }: VolumeTopology): boolean => {
        const value = ownField(labels, key) ?? ownField(labels, TOPOLOGY_LABELS.get(key) ?? key);
        return value !== undefined && values.has(value);
      };
      return topologies.every(isWithin) ? undefined : REFUSAL;
    },
  };
  return plugin;
};

/** The topologies of the volumes that the pod's claims are bound to. */
function topologiesOf(pod: ReadablePod, view: ClusterView): readonly VolumeTopology[] | Status {
  const topologies: VolumeTopology[] = [];
  for (const { claim, isEphemeral, name } of claimedVolumesOf(pod, view)) {
    if (isEphemeral) continue;
    if (!claim) return unresolvable(claimNotFound(name));
    const { volumeName } = claim.spec;
    if (!volumeName) {
      const problem = problemOfUnbound(storageClassNameOf(claim), view);
      if (problem) return unresolvable(problem);
      continue;
    }
    const volume = volumeNamed(volumeName, view);
    if (!volume) return unresolvable(`persistentvolume "${volumeName}" not found`);
    topologies.push(...topologiesOfVolume(volume));
  }
  return topologies;
}

function problemOfUnbound(className: string | undefined, view: ClusterView): string | undefined {
  if (!className) return 'PersistentVolumeClaim had no pv name and storageClass name';
  const found = view.get<StorageClass>('storage.k8s.io/storageclasses', { name: className });
  if (!found) return `storageclass.storage.k8s.io "${className}" not found`;
  if (!found.volumeBindingMode) return `VolumeBindingMode not set for StorageClass "${className}"`;
  return found.volumeBindingMode === 'WaitForFirstConsumer' ? undefined : 'PersistentVolume had no name';
}

function isSameTopology(one: Volume, other: Volume): boolean {
  return [...TOPOLOGY_LABELS.keys()].every(
    (key) => ownField(one.metadata.labels, key) === ownField(other.metadata.labels, key),
  );
}

/** A label without any zone is left out, as kube-scheduler does with what it cannot read. */
function topologiesOfVolume({ metadata: { labels } }: Volume): readonly VolumeTopology[] {
  const topologies: VolumeTopology[] = [];
  for (const key of TOPOLOGY_LABELS.keys()) {
    const value = ownField(labels, key);
    if (value === undefined) continue;
    const values = zonesIn(value);
    if (values.every((zone) => zone !== '')) topologies.push({ key, values: new Set(values) });
  }
  return topologies;
}
