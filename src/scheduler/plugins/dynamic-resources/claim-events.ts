import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ClusterEventWithHint } from '../../framework/cluster-event.js';
import type { ClusterView } from '../../framework/cluster-view.js';
import { isSamePod, on, onObjects, onPods } from '../hints.js';
import { claimsOf } from './pod-claims.js';
import type { ResourceClaim } from './resource-api.js';

const CLAIMS = 'resource.k8s.io/resourceclaims';

/**
 * The events that may help a pod with claims: they come or change, devices become free or are added, a class is there.
 */
export function claimEvents(view: ClusterView): readonly ClusterEventWithHint[] {
  return [
    onObjects<ResourceClaim>(CLAIMS, ['add', 'update', 'delete'], (pod, before, after) => {
      const claims = claimsOf(pod, view);
      if (typeof claims === 'string') return false;
      if (before?.status?.allocation && !after?.status?.allocation) return true;
      if (!after) return false;
      const isOwn = claims.some(({ metadata }) => metadata.uid === after.metadata.uid);
      return isOwn && (!before || !sameJson(before.status, after.status));
    }),
    onPods(
      ['update-pod-generated-resource-claim'],
      (pod, _before, after) =>
        after !== undefined && isSamePod(pod, after) && typeof claimsOf(after, view) !== 'string',
    ),
    // A node may come to have a resource itself that it had no device for.
    on('nodes', 'add', 'update-node-labels', 'update-node-allocatable'),
    on('resource.k8s.io/deviceclasses', 'add', 'update'),
    on('resource.k8s.io/resourceslices', 'add', 'update'),
  ];
}
