import { Deployment, createManager, definitionOf, silentLogger } from '@rollkeeper/runtime';
import { startTestCluster } from '@rollkeeper/testing';
import { startFaults } from '@rollkeeper/testing/faults';
import { expect, it } from 'vitest';
import { websites } from '../src/controller.ts';
import { Website } from '../src/kinds.ts';

const metadata = { namespace: 'default', name: 'shop' };
const aWebsite = (spec: { image: string; replicas: number }): Website => ({
  apiVersion: 'example.com/v1',
  kind: 'Website',
  metadata,
  spec,
});
const isReady = (website?: { status?: { ready?: boolean } }): boolean => website?.status?.ready === true;

it('a Website is ready once its pods are available', async () => {
  await using cluster = await startTestCluster({
    controllers: ['deployment', 'replicaset', websites],
    nodes: 1,
    manifests: { ...definitionOf(Website) },
  });
  await cluster.client.create(Website, aWebsite({ image: 'shop:1', replicas: 3 }));
  await cluster.waitFor<Website>('websites/shop', isReady);
  expect((await cluster.client.get(Deployment, metadata)).status?.availableReplicas).toBe(3);

  await cluster.client.delete(Website, metadata);
  await cluster.waitFor('websites/shop', 'delete');
});

it('a Website has one Deployment, although answers of the API are lost', async () => {
  await using cluster = await startTestCluster({
    controllers: ['deployment', 'replicaset'],
    nodes: 1,
    manifests: { ...definitionOf(Website) },
  });
  await using faults = await startFaults(cluster, { seed: 1, rates: { errorAfter: 0.3, lostAfter: 0.3 } });
  const stopper = new AbortController();
  const manager = await createManager({
    name: 'website-operator',
    kubeconfig: faults.kubeconfig.path,
    coordination: 'local',
    logger: silentLogger,
  });
  const running = manager.add(websites).run(stopper.signal);
  await cluster.client.create(Website, aWebsite({ image: 'shop:1', replicas: 1 }));
  await cluster.waitFor<Website>('websites/shop', isReady);
  stopper.abort();
  await running;
  expect(await cluster.list('deployments')).toHaveLength(1);
});
