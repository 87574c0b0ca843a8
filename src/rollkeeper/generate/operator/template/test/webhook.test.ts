import { definitionOf } from '@rollkeeper/runtime';
import { startTestCluster } from '@rollkeeper/testing';
import { expect, it } from 'vitest';
import { Website } from '../src/kinds.ts';
import { websiteWebhook } from '../src/webhook.ts';

it('refuses an image with spaces, with the name of the field', async () => {
  await using cluster = await startTestCluster({
    controllers: [],
    nodes: 0,
    webhooks: [websiteWebhook],
    manifests: { ...definitionOf(Website) },
  });
  const website: Website = {
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata: { namespace: 'default', name: 'shop' },
    spec: { image: 'shop 1', replicas: 1 },
  };
  await expect(cluster.client.create(Website, website)).rejects.toThrow('spec.image');
  const spec = { ...website.spec, image: ' shop:1 ' };
  expect((await cluster.client.create(Website, { ...website, spec })).spec.image).toBe('shop:1');
});
