import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';

const COMPUTE = ['cpu', 'memory'] as const;

/**
 * `Guaranteed`: every container has equal requests and limits of cpu and memory. `BestEffort`: none has any.
 * Source: ComputePodQOS in pkg/apis/core/helper/qos.
 */
export function qosClassOf(spec: Decoded<PodSpec>): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const { limits: ownLimits, requests: ownRequests } = spec.resources ?? {};
  // The resources that a pod asks for as a whole decide alone.
  const resources =
    ownLimits || ownRequests ? [spec.resources ?? {}] : all.map((container) => container.resources ?? {});
  const hasAny = resources.some(({ requests, limits }) =>
    COMPUTE.some((name) => requests?.[name] !== undefined || limits?.[name] !== undefined),
  );
  if (!hasAny) return 'BestEffort';
  const isGuaranteed = resources.every(({ requests, limits }) =>
    COMPUTE.every(
      (name) => limits?.[name] !== undefined && (requests?.[name] ?? limits[name]) === limits[name],
    ),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}
