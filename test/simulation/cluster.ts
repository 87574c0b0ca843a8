import type { ApiClient } from '../../src/client/api-client/index.js';
import { isNotFound } from '../../src/client/api-client/index.js';
import { ConfigMap, Namespace, Node, Service } from '../../src/machinery/kubernetes/index.js';
import { MutatingWebhookConfiguration, defineKind } from '../../src/runtime/index.js';
import type { WorldOptions } from '../../src/testing/simulation/index.js';
import type { RedisStoreOptions } from '../../src/testing/simulation/redis/world/redis-store.js';
import { RedisStore } from '../../src/testing/simulation/redis/world/redis-store.js';
import { HTTPRoute, aLedRoute } from '../chaos/led-routes.js';
import { FIRST_MESH, meshConfiguration } from '../chaos/mesh.js';
import type { Plan } from './plan.js';
import { WORLD_NAMES } from './plan.js';
import { CHECKS } from './versions/door.js';
import { namesThatNeed } from './shapes.js';
import { DEFAULT_NAMESPACE, SLOT_NAMESPACES, namespaceIn } from './slots/slot-namespaces.js';

/** The webhook of the mesh. */
export const MESH_ORIGIN = 'https://mesh.test';
/** As many as `SimulatedNodes` binds pods to, each in a zone of its own. */
const NODES = [0, 1, 2];

/** @param options of a simulated Redis, if it is one */
export function coordinationOf(
  { coordination }: Plan,
  options: RedisStoreOptions,
): WorldOptions['coordination'] {
  if (coordination !== 'redis') return coordination;
  return (process, network) => new RedisStore(process, network, options);
}

/** Creates the namespaces, and what policies are about: nodes in zones, Services, routes and checks. */
export async function prepareCluster(client: ApiClient, plan: Plan): Promise<void> {
  const { slots, world = 'plain' } = plan;
  for (const name of slots === undefined ? [] : SLOT_NAMESPACES)
    if (name !== DEFAULT_NAMESPACE)
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  if (world === 'plain') return;
  const namespaceOf = namespaceIn(plan);
  for (const index of NODES) {
    const labels = { 'topology.kubernetes.io/zone': `zone-${index}` };
    const metadata = { name: `node-${index}`, labels };
    await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata });
  }
  const names = WORLD_NAMES[world];
  for (const name of namesThatNeed('service', names)) {
    const spec = { selector: { app: name }, ports: [{ port: 80 }] };
    await client.create(Service, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: namespaceOf(name) }, spec },
    });
  }
  if (world === 'requests') await prepareRequests(client, names, namespaceOf);
  if (world === 'lifetimes')
    await client.create(MutatingWebhookConfiguration, meshConfiguration(FIRST_MESH, { origin: MESH_ORIGIN }));
}

async function prepareRequests(
  client: ApiClient,
  names: readonly string[],
  namespaceOf: (name: string) => string,
): Promise<void> {
  for (const namespace of new Set(names.map(namespaceOf))) {
    const metadata = { namespace, name: 'rollkeeper-checks' };
    await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: CHECKS });
  }
  await client.create(Definition, ROUTE_DEFINITION);
  while (!(await areRoutesServed(client)));
  for (const name of namesThatNeed('route', names)) {
    const { route, services } = aLedRoute(namespaceOf(name), name);
    for (const service of services) await client.create(Service, service);
    await client.create(HTTPRoute, route);
  }
}

async function areRoutesServed(client: ApiClient): Promise<boolean> {
  try {
    await client.list(HTTPRoute, { namespace: DEFAULT_NAMESPACE });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

const Definition = defineKind({
  ...{ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition', namespaced: false },
});

/** The real one has a schema of its own, whose rules say nothing of rollouts, and would be most of the cost of a write. */
const ROUTE_DEFINITION = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: {
    name: `${HTTPRoute.resource}.${HTTPRoute.group}`,
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/4530' },
  },
  spec: {
    group: HTTPRoute.group,
    names: { kind: HTTPRoute.kind, plural: HTTPRoute.resource, singular: 'httproute' },
    scope: 'Namespaced',
    versions: [
      {
        ...{ name: HTTPRoute.version, served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
