import type { ApiClient } from '../../src/client/api-client/index.js';
import { Node, Service } from '../../src/machinery/kubernetes/index.js';
import type { WorldOptions } from '../../src/testing/simulation/index.js';
import { RedisStore } from '../../src/testing/simulation/redis/world/redis-store.js';
import type { Plan } from './plan.js';
import { SERVED_NAMES } from './shapes.js';

/** As many as `SimulatedNodes` binds pods to, each in a zone of its own. */
const NODES = [0, 1, 2];

/** @param scriptText see `SimulateOptions` */
export function coordinationOf(
  { coordination }: Plan,
  scriptText?: (text: string) => string,
): WorldOptions['coordination'] {
  if (coordination !== 'redis') return coordination;
  return (process, network) => new RedisStore(process, network, { scriptText });
}

/** Creates what policies are about: nodes in zones, and Services. */
export async function prepareCluster(client: ApiClient): Promise<void> {
  for (const index of NODES) {
    const labels = { 'topology.kubernetes.io/zone': `zone-${index}` };
    const metadata = { name: `node-${index}`, labels };
    await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata });
  }
  for (const name of SERVED_NAMES) {
    const spec = { selector: { app: name }, ports: [{ port: 80 }] };
    await client.create(Service, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec },
    });
  }
}
