import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { defineKind } from '../../src/runtime/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';

interface Loose extends KubernetesObject {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are looked into freely by assertions
  [field: string]: any;
}

const ApiService = defineKind<Loose>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  resource: 'apiservices',
  namespaced: false,
});
const Namespace = defineKind<Loose>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
});

const DEADLINE = { timeout: 100_000 };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 0 });
});
afterAll(() => cluster.stop());

const conditionsOf = async (kind: typeof ApiService, name: string): Promise<Loose[]> =>
  ((await cluster.client.get<Loose>(kind, { name })).status?.conditions ?? []) as Loose[];

it('a group that no server answers for holds a namespace, which says so, until its APIService goes', async () => {
  const name = 'v1.away.example.com';
  await cluster.client.create<Loose>(ApiService, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name },
    spec: {
      group: 'away.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { name: 'gone', namespace: 'default' },
    },
  });
  await expect
    .poll(() => conditionsOf(ApiService, name), DEADLINE)
    .toMatchObject([
      { status: 'False', reason: 'ServiceNotFound', message: 'service/gone in "default" is not present' },
    ]);
  await cluster.client.create<Loose>(Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'held' },
  });
  await cluster.client.delete(Namespace, { name: 'held' });
  const failure = async (): Promise<Loose | undefined> =>
    (await conditionsOf(Namespace, 'held')).find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure');
  await expect.poll(failure, DEADLINE).toMatchObject({
    status: 'True',
    reason: 'DiscoveryFailed',
    message: expect.stringContaining(
      'away.example.com/v1: stale GroupVersion discovery: away.example.com/v1',
    ),
  });
  await cluster.client.delete(ApiService, { name });
  const names = async (): Promise<string[]> =>
    (await cluster.client.list<Loose>(Namespace)).items.map(({ metadata }) => metadata.name);
  await expect.poll(names, DEADLINE).not.toContain('held');
});
