import { describe, expect, it } from 'vitest';
import { SeededRandom } from '@rollkeeper/machinery/clock';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { NODE_PORTS, SERVICE_RESERVATIONS } from './service.reservations.js';

interface Ports extends UnstructuredObject {
  readonly spec: {
    readonly type: string;
    readonly clusterIP: string;
    readonly ports: readonly { readonly port: number; readonly nodePort?: number }[];
  };
}

const ALL = NODE_PORTS.last - NODE_PORTS.first + 1;

function serviceWith(count: number): Ports {
  const ports = Array.from({ length: count }, (_, index) => ({ port: index + 1 }));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', namespace: 'n' },
    spec: { type: 'NodePort', clusterIP: 'None', ports },
  };
}

describe('the ports of nodes that a Service gets', () => {
  it('are all different, and may be all that there are', () => {
    const service = serviceWith(ALL);
    expect(SERVICE_RESERVATIONS.choose(service, new SeededRandom(1))).toBe(true);
    const chosen = service.spec.ports.map(({ nodePort }) => nodePort ?? 0).sort((a, b) => a - b);
    expect(chosen).toEqual(Array.from({ length: ALL }, (_, index) => NODE_PORTS.first + index));
  });

  it('are refused to a Service that needs more than there are', () => {
    const choose = (): boolean => SERVICE_RESERVATIONS.choose(serviceWith(ALL + 1), new SeededRandom(1));
    expect(choose).toThrow('failed to allocate a nodePort: range is full');
  });

  it('are stored under the name that their object has', () => {
    const service = serviceWith(3);
    SERVICE_RESERVATIONS.choose(service, new SeededRandom(1));
    for (const { name, object } of SERVICE_RESERVATIONS.wanted(service))
      expect(object.metadata.name).toBe(name);
  });
});
