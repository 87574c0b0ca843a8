import { expect, it } from 'vitest';
import { z } from 'zod';
import { definitionsIn, rightsIn, rolesOf } from '../../src/rollkeeper/generate/index.js';
import type { Logger, ObjectOf } from '../../src/runtime/index.js';
import {
  ConfigMap,
  createManager,
  createOrUpdate,
  defineController,
  defineCustomKind,
  setControllerReference,
  silentLogger,
  updateStatus,
  withRules,
} from '../../src/runtime/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

const Website = defineCustomKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Website' },
  spec: withRules(z.object({ host: z.string().min(1), replicas: z.int().min(0).max(10).default(2) }), {
    rule: 'self.host == oldSelf.host',
    message: 'host is immutable',
  }),
  status: z.object({ replicas: z.int().optional() }),
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  columns: [{ name: 'Host', jsonPath: '.spec.host' }],
});
type Website = ObjectOf<typeof Website>;

const controller = defineController({
  ...{ name: 'websites', for: Website, owns: [ConfigMap] },
  writes: [
    { kind: Website, verbs: [], subresources: ['status', 'finalizers'] },
    { kind: ConfigMap, verbs: ['create', 'update'] },
  ],
  async reconcile({ name, namespace }, { client, events, object }) {
    if (!object) return;
    await createOrUpdate(client, ConfigMap, { namespace, name }, (map) => {
      setControllerReference(object, map);
      map.data = { host: object.spec.host };
    });
    await updateStatus(client, Website, object, { replicas: object.spec.replicas });
    events.record(object, { type: 'Normal', reason: 'Written', message: 'all there' });
  },
});

it('runs an operator by what is generated of it: the server takes its definition, and its rights are enough', async () => {
  const modules = [{ Website, controller }];
  const options = { name: 'websites', namespace: 'ops', namespaces: [], hasLease: true };
  const ops = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ops' } };
  await using cluster = await startTestCluster({
    ...{ controllers: [], nodes: 0 },
    manifests: [ops, ...definitionsIn(modules), ...rolesOf(rightsIn(modules), options)] as never,
  });
  const account = await cluster.user('system:serviceaccount:ops:websites');
  const problems: string[] = [];
  const note = (message: string): void => void problems.push(message);
  const logger: Logger = { ...silentLogger, warn: note, error: note, child: () => logger };
  const manager = await createManager({
    ...{ name: 'websites', kubeconfig: account.kubeconfig.path, logger },
    ...{ coordination: 'leases', leaderElection: { namespace: 'ops' } },
  });
  const stopper = new AbortController();
  const running = manager.add(controller).run(stopper.signal);
  const metadata = { namespace: 'default', name: 'shop' };
  const created = await cluster.client.create(Website, {
    ...{ apiVersion: 'example.com/v1', kind: 'Website', metadata },
    spec: { host: 'shop' } as Website['spec'],
  });
  expect(created.spec.replicas).toBe(2);
  const seen = await waitFor(
    async () => {
      const website = await cluster.client.get(Website, metadata);
      return website.status?.replicas === 2 && website;
    },
    { what: 'the status' },
  );
  const change = (spec: object) =>
    cluster.client.patch(Website, seen.metadata, { type: 'merge', body: { spec } });
  await expect(change({ host: 'other' })).rejects.toThrow('host is immutable');
  await expect(change({ replicas: 11 })).rejects.toMatchObject({ code: 422 });
  expect((await cluster.client.get(ConfigMap, metadata)).data).toEqual({ host: 'shop' });
  stopper.abort();
  await running;
  expect(problems).toEqual([]);
});
