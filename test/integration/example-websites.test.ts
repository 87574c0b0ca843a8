import { expect, it } from 'vitest';
import { Website, websiteWebhook, websites } from '../../examples/websites/operator.js';
import { Deployment, Service, definitionOf } from '../../src/runtime/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

it('the example of websites rolls out what a Website says, with its webhook and its definition', async () => {
  await using cluster = await startTestCluster({
    controllers: ['deployment', 'replicaset', websites],
    ...{ nodes: 1, webhooks: [websiteWebhook] },
    manifests: [definitionOf(Website)] as never,
  });
  const metadata = { namespace: 'default', name: 'shop' };
  await cluster.client.create(Website, {
    ...{ apiVersion: 'example.com/v1', kind: 'Website', metadata },
    spec: { host: 'Shop.Example.com', image: 'shop:1' } as Website['spec'],
  });
  await cluster.waitFor<Website>('websites/shop', (website) => website?.status?.ready === true);
  const website = await cluster.client.get(Website, metadata);
  expect(website.spec).toEqual({ host: 'shop.example.com', image: 'shop:1', replicas: 2 });
  expect((await cluster.client.get(Deployment, metadata)).spec.replicas).toBe(2);
  await cluster.client.get(Service, metadata);
  const bad = { spec: { host: 'other' } };
  await expect(cluster.client.patch(Website, metadata, { type: 'merge', body: bad })).rejects.toThrow(
    'host is immutable',
  );
});
