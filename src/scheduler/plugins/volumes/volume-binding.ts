import type { PluginFactory, SchedulerPlugin } from '../../framework/plugin.js';
import { SKIP, unresolvable } from '../../framework/status.js';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { StorageClass } from '@rollkeeper/machinery/kubernetes';
import { on, onObjects } from '../hints.js';
import { isClaimOf } from './pod-claims.js';
import type { CsiDriver, CsiStorageCapacity } from './storage-capacity.js';
import { volumeLimitOf } from './storage-capacity.js';
import { isPlan, planVolumes } from './plan-volumes.js';
import type { SortedClaims } from './sort-claims.js';
import { sortClaims } from './sort-claims.js';

/**
 * Keeps pods to nodes that can reach their volumes. For claims that wait for their first consumer, keeps them to nodes
 * where a volume is free or can be provisioned. {@link planVolumes} decides what has to be done on the chosen node.
 */
export const volumeBinding: PluginFactory = () => {
  const plugin: SchedulerPlugin<SortedClaims> = {
    name: 'VolumeBinding',
    eventsToRegister: [
      onObjects<StorageClass>(
        'storage.k8s.io/storageclasses',
        ['add', 'update'],
        (_pod, before, after) => !before || !sameJson(before.allowedTopologies, after?.allowedTopologies),
      ),
      onObjects('persistentvolumeclaims', ['add', 'update'], (pod, _before, after) => isClaimOf(pod, after)),
      on('persistentvolumes', 'add', 'update'),
      on('nodes', 'add', 'update-node-labels'),
      onObjects<CsiDriver>(
        'storage.k8s.io/csidrivers',
        ['update'],
        (_pod, before, after) =>
          before?.spec?.storageCapacity === true && after?.spec?.storageCapacity !== true,
      ),
      onObjects<CsiStorageCapacity>(
        'storage.k8s.io/csistoragecapacities',
        ['add', 'update'],
        (_pod, before, after) =>
          !before || (after !== undefined && volumeLimitOf(after) > volumeLimitOf(before)),
      ),
    ],
    preFilter({ pod: { pod }, view }) {
      const sorted = sortClaims(pod, view);
      if (!sorted) return { status: SKIP };
      return 'code' in sorted ? { status: sorted } : { state: sorted };
    },
    filter({ node }, { view }, claims) {
      const found = planVolumes(claims, node, view);
      return isPlan(found) ? undefined : unresolvable(...found);
    },
  };
  return plugin;
};
