import type { Amounts, Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { containerAmounts, isPodLevelResource, pickAmounts } from '@rollkeeper/machinery/kubernetes';

/**
 * Completes what a pod says of itself by what its containers say. Source: defaultHugePagePodLimits and defaultPodRequests in
 * pkg/apis/core/v1/defaults.go.
 */
export function defaultPodLevelResources(spec: Decoded<PodSpec>): void {
  const { resources } = spec;
  if (!resources) return;
  const { limits: ownLimits = {}, requests: ownRequests = {} } = resources;
  if (Object.keys(ownLimits).length + Object.keys(ownRequests).length === 0) return;
  const huge = pickAmounts(
    containerAmounts(spec, 'limits'),
    (name) => name.startsWith('hugepages-') && ownRequests[name] === undefined,
  );
  const limits: Amounts = { ...huge, ...ownLimits };
  if (Object.keys(limits).length === 0) return;
  resources.limits = { ...limits };
  const requests: Amounts = {
    ...pickAmounts(limits, isPodLevelResource),
    ...pickAmounts(
      containerAmounts(spec, 'requests'),
      (name) => isPodLevelResource(name) && !name.startsWith('hugepages-'),
    ),
    ...ownRequests,
  };
  if (Object.keys(requests).length > 0) resources.requests = { ...requests };
}
