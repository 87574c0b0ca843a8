import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ClusterEventWithHint } from '../../framework/cluster-event.js';
import type { ClusterView } from '../../framework/cluster-view.js';
import { isSamePod, on, onObjects, onPods } from '../hints.js';
import { claimsOf } from './pod-claims.js';
import type { ResourceClaim } from './resource-api.js';

/** What may help a pod with claims: they come or change, devices become free or are added, a class is there. */
export function claimEvents(view: ClusterView): readonly ClusterEventWithHint[] {
  return [
    onObjects<ResourceClaim>('resource.k8s.io/resourceclaims', ['add', 'update'], (pod, before, after) => {
      const claims = claimsOf(pod, view);
      if (typeof claims === 'string' || !after) return false;
      if (before?.status?.allocation && !after.status?.allocation) return true;
      const isOwn = claims.some(({ metadata }) => metadata.uid === after.metadata.uid);
      return isOwn && (!before || !sameJson(before.status, after.status));
    }),
    onPods(
      ['update-pod-generated-resource-claim'],
      (pod, _before, after) =>
        after !== undefined && isSamePod(pod, after) && typeof claimsOf(after, view) !== 'string',
    ),
    on('nodes', 'add', 'update-node-labels'),
    on('resource.k8s.io/deviceclasses', 'add', 'update'),
    on('resource.k8s.io/resourceslices', 'add', 'update'),
  ];
}
