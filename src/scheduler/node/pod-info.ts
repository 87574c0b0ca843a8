import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { HostPort, PodInfo, ReadablePod } from '../framework/node-info.js';
import { affinityTermsOf } from './pod-affinity-terms.js';
import { nonZeroRequestsOf, requestsOf } from './pod-requests.js';

const known = new WeakMap<ReadablePod, PodInfo>();

/** The facts of a pod that scheduling needs; computed once for each version of it. */
export function podInfoOf(pod: ReadablePod): PodInfo {
  let info = known.get(pod);
  if (!info) {
    info = {
      pod,
      key: keyOf(pod.metadata),
      requests: requestsOf(pod),
      nonZeroRequests: nonZeroRequestsOf(pod),
      hostPorts: hostPortsOf(pod),
      affinity: affinityTermsOf(pod),
      priority: pod.spec.priority ?? 0,
    };
    known.set(pod, info);
  }
  return info;
}

/** Ports of containers and sidecars on the node's own addresses. */
function hostPortsOf({ spec }: ReadablePod): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...spec.containers]
    .flatMap(({ ports }) => ports ?? [])
    .filter(({ hostPort }) => hostPort !== undefined && hostPort > 0)
    .map(({ hostIP, hostPort, protocol }) => ({
      ip: hostIP || ANY_ADDRESS,
      protocol: protocol || 'TCP',
      port: hostPort ?? 0,
    }));
}

export const ANY_ADDRESS = '0.0.0.0';
