import type { ApiClient } from '../../src/client/api-client/index.js';
import { isAlreadyExists } from '../../src/client/api-client/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Namespace, Node, Service } from '../../src/machinery/kubernetes/index.js';
import { PodDisruptionBudget } from '../../src/runtime/index.js';
import { createRoute } from './routes.js';

/** So many Deployments of the load may roll out at once. */
export const MAX_ROLLOUTS = 12;

/** Flags of a replica that keeps all policies. */
export const POLICY_FLAGS = [
  '--zones',
  '--blue-green',
  '--traffic',
  '--respect-disruption-budgets',
  '--drain-sessions',
  '--watch-admission',
  // Budgets need a controller that counts for them, and routes one that knows the pods behind a Service.
  ...['--controllers', '*,disruption,endpointslice'],
] as const;

/**
 * Slots refuse options that need one replica that sees everything: the limit of rollouts at once and notifications. The leader's look
 * for problems would list everything from the API.
 */
export function flagsOfSlots(slots: number): readonly string[] {
  if (slots === 0) return ['--max-rollouts', '0'];
  return [
    ...['--slots', String(slots), '--max-rollouts', 'off'],
    ...['--notification-hosts', '', '--problems', 'none'],
  ];
}

/** The objects that the policies of a Deployment need beside it. */
export type PolicyNeed = 'service' | 'budget' | 'route';

/** Puts what policies are about into the cluster: zones of nodes, the limit of the namespace, Services, budgets and routes. */
export async function makePolicyWorld(
  client: ApiClient,
  namespaces: readonly string[],
  needs: ReadonlyMap<string, PolicyNeed>,
  namespaceOf: (name: string) => string,
): Promise<void> {
  const { items: nodes } = await client.list<Node>(Node, {});
  for (const [index, { metadata }] of nodes.entries()) {
    const body = { metadata: { labels: { 'topology.kubernetes.io/zone': `zone-${index}` } } };
    await client.patch(Node, { name: metadata.name }, { type: 'merge', body });
  }
  const annotations = { 'rollkeeper.dev/max-rollouts': String(MAX_ROLLOUTS) };
  for (const name of namespaces)
    await client.patch(Namespace, { name }, { type: 'merge', body: { metadata: { annotations } } });
  for (const [name, need] of needs) await createNeeded(client, namespaceOf(name), name, need);
}

async function createNeeded(
  client: ApiClient,
  namespace: string,
  name: string,
  need: PolicyNeed,
): Promise<void> {
  if (need === 'route') return createRoute(client, namespace, name);
  const metadata = { name, namespace };
  if (need === 'service') {
    const spec = { selector: { app: name }, ports: [{ port: 80 }] };
    return create(client, Service, { apiVersion: 'v1', kind: 'Service', metadata, spec });
  }
  const spec = { maxUnavailable: 1, selector: { matchLabels: { app: name } } };
  const apiVersion = 'policy/v1';
  return create(client, PodDisruptionBudget, { apiVersion, kind: 'PodDisruptionBudget', metadata, spec });
}

async function create(
  client: ApiClient,
  type: ResourceType,
  object: KubernetesObject & { readonly spec: object },
): Promise<void> {
  try {
    await client.create(type, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
