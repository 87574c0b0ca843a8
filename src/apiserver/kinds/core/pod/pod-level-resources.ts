import type { Amounts, Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { containerAmounts, isPodLevelResource, pickAmounts } from '@rollkeeper/machinery/kubernetes';

/**
 * Completes what a pod says of itself by what its containers say. Source: defaultHugePagePodLimits and defaultPodRequests in
 * pkg/apis/core/v1/defaults.go.
 */
export function defaultPodLevelResources(spec: Decoded<PodSpec>): void {
  const { resources } = spec;
  if (!resources) return;
  const huge = pickAmounts(containerAmounts(spec, 'limits'), (name) => name.startsWith('hugepages-'));
  const limits: Amounts = { ...huge, ...resources.limits };
  if (Object.keys(limits).length > 0) resources.limits = { ...limits };
  const requests: Amounts = {
    ...pickAmounts(limits, isPodLevelResource),
    ...pickAmounts(containerAmounts(spec, 'requests'), isPodLevelResource),
    ...resources.requests,
  };
  if (Object.keys(requests).length > 0) resources.requests = { ...requests };
}
