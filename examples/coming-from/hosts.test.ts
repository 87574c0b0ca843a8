import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigMap } from 'rollkeeper';
import { definitionOf } from 'rollkeeper';
import { startTestCluster } from 'rollkeeper/testing';
import { expect, it } from 'vitest';
import { Website, hosts } from './hosts.js';

const PAGES = join(import.meta.dirname, '..', '..', 'docs', 'coming-from');
const metadata = { namespace: 'default', name: 'shop' };

it('every Website has a ConfigMap with its host, which is put right and goes with it', async () => {
  await using cluster = await startTestCluster({
    ...{ controllers: ['garbage-collector', hosts], nodes: 0 },
    manifests: { ...definitionOf(Website) },
  });
  await cluster.client.create(Website, {
    ...{ apiVersion: 'example.com/v1', kind: 'Website', metadata },
    spec: { host: 'shop.test' },
  });
  const hasHost = (map?: { data?: { host?: string } }): boolean => map?.data?.host === 'shop.test';
  await cluster.waitFor<ConfigMap>('configmap/shop', hasHost);
  await cluster.patch('configmap/shop', { data: { host: 'other.test' } });
  await cluster.waitFor<ConfigMap>('configmap/shop', hasHost);
  await cluster.client.delete(Website, metadata);
  await cluster.waitFor('configmap/shop', 'delete');
});

it.each(readdirSync(PAGES))('%s shows the example as it is', (page) => {
  const code = readFileSync(join(import.meta.dirname, 'hosts.ts'), 'utf8');
  const controller = code.slice(code.indexOf('export const Website'), code.indexOf('export async function'));
  expect(readFileSync(join(PAGES, page), 'utf8')).toContain(controller.trim());
});
