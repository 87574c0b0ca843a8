import { isSidecar } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';

type ReadablePod = DeepReadonly<Pod>;

/** Whether a pod asks for a port of the node that another pod there has. Source: k/k pkg/scheduler/framework/types.go. */
export function wantsTakenPort(pod: ReadablePod, others: readonly ReadablePod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  const taken = new Map<string, Set<string>>();
  for (const { address, port } of others.flatMap(hostPortsOf))
    taken.set(port, (taken.get(port) ?? new Set()).add(address));
  return wanted.some(({ address, port }) => {
    const addresses = taken.get(port);
    return addresses !== undefined && (address === ANY || addresses.has(ANY) || addresses.has(address));
  });
}

const ANY = '0.0.0.0';

function hostPortsOf({ spec }: ReadablePod): { readonly address: string; readonly port: string }[] {
  const sidecars = (spec.initContainers ?? []).filter(isSidecar);
  return [...sidecars, ...spec.containers]
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostIP, hostPort = 0, protocol = 'TCP' }) =>
      hostPort > 0 ? [{ address: hostIP || ANY, port: `${protocol} ${hostPort}` }] : [],
    );
}
