import { statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject, Pod } from '../../src/machinery/kubernetes/index.js';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Node,
  ServiceAccount,
  createManager,
  defineController,
  defineKind,
  silentLogger,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  untyped,
} from '../../src/runtime/index.js';
import type { TestCluster, TestClusterOptions } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { defineWebhook, spoke } from '../../src/webhooks/index.js';

interface Website extends KubernetesObject {
  spec: { host: string };
}
interface OldWebsite extends KubernetesObject {
  spec: { address: string };
}
const GROUP = { group: 'example.com', kind: 'Website' };
const Website = defineKind<Website>({ ...GROUP, version: 'v1' });
const OldWebsite = defineKind<OldWebsite>({ ...GROUP, version: 'v1beta1' });
const versionOf = (name: string, field: string, storage: boolean) => {
  const spec = { type: 'object', properties: { [field]: { type: 'string' } } };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return { name, served: true, storage, schema: { openAPIV3Schema } };
};
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'websites.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Website', plural: 'websites', singular: 'website', listKind: 'WebsiteList' },
    scope: 'Namespaced',
    versions: [versionOf('v1', 'host', true), versionOf('v1beta1', 'address', false)],
  },
};
const hook = defineWebhook(Website, {
  default: (website) => void (website.spec.host = website.spec.host.toLowerCase()),
  convert: [
    spoke(OldWebsite, {
      toHub: ({ spec: { address } }) => ({ spec: { host: address } }),
      fromHub: ({ spec: { host } }) => ({ spec: { address: host } }),
    }),
  ],
});
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const website = (name: string, host: string): Website => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Website', metadata: { namespace: 'default', name } },
  spec: { host },
});
/** Each Website has a ConfigMap. */
const websites = defineController({
  ...{ name: 'websites', for: Website, owns: [ConfigMap] },
  async reconcile(_request, { client, object, owned }) {
    if (!object || object.metadata.deletionTimestamp || owned(ConfigMap).length > 0) return;
    const { name, uid = '' } = object.metadata;
    await client.create(ConfigMap, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { host: object.spec.host } },
      metadata: {
        ...{ namespace: 'default', name },
        ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Website', name, uid, controller: true }],
      },
    });
  },
});

describe('a test cluster on a cluster that exists', () => {
  let existing: TestCluster;
  const on = (options: TestClusterOptions) =>
    startTestCluster({ existingCluster: { kubeconfig: existing.kubeconfig.path }, ...options });
  const names = async (resource: string) =>
    (await existing.list(resource)).map(({ metadata }) => metadata.name);

  beforeAll(async () => {
    existing = await startTestCluster({ nodes: 1 });
  });
  afterAll(() => existing.stop());

  it('installs definitions and webhooks, runs controllers of one’s own, and removes all of it', async () => {
    const cluster = await on({
      ...{ controllers: ['deployment', websites], webhooks: [hook] },
      manifests: [namespace('shops'), definition],
    });
    const made = await cluster.client.create(Website, website('shop', 'SHOP'));
    expect(made.spec.host).toBe('shop');
    await cluster.waitFor('configmap/shop', 'create');
    expect((await cluster.client.get(OldWebsite, made.metadata)).spec).toEqual({ address: 'shop' });
    await cluster.stop();
    for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration])
      expect((await existing.client.list(untyped(kind))).items).toEqual([]);
    expect(await names('crd')).toEqual([]);
    expect(await names('namespaces')).not.toContain('shops');
    expect(await existing.get('configmap/shop')).toBeUndefined();
  });

  it('leaves what was there, also if a manifest names it', async () => {
    await existing.client.create(Namespace, namespace('kept'));
    const cluster = await on({
      manifests: [{ ...namespace('kept'), metadata: { name: 'kept', labels: { by: 'test' } } }],
    });
    await cluster.stop();
    const { metadata } = await existing.client.get(Namespace, { name: 'kept' });
    expect([metadata.labels?.['by'], metadata.deletionTimestamp]).toEqual(['test', undefined]);
  });

  it('removes the webhook configurations by which an operator of this machine was called, and no others', async () => {
    const hooks = (name: string, clientConfig: object) => ({
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
      metadata: { name },
      webhooks: [
        {
          ...{
            name: 'widgets.example.com',
            clientConfig,
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
          rules: [
            { apiGroups: ['none'], apiVersions: ['v1'], resources: ['widgets'], operations: ['CREATE'] },
          ],
        },
      ],
    });
    const local = { url: 'https://127.0.0.1:9443/validate' };
    await existing.apply(hooks('before', local));
    const cluster = await on({});
    await existing.apply([
      hooks('of-operator', local),
      hooks('elsewhere', { url: 'https://hooks.example.com/validate' }),
      hooks('in-cluster', { service: { namespace: 'ops', name: 'hooks' } }),
    ]);
    await cluster.stop();
    expect((await names('validatingwebhookconfigurations')).sort()).toEqual([
      'before',
      'elsewhere',
      'in-cluster',
    ]);
    for (const name of ['before', 'elsewhere', 'in-cluster'])
      await existing.delete(`validatingwebhookconfiguration/${name}`);
  });

  it('gives a definition that was there the conversion back that it had', async () => {
    await existing.apply(definition);
    const cluster = await on({ webhooks: [hook], manifests: definition });
    const conversion = async () =>
      (await existing.client.get(CustomResourceDefinition, definition.metadata)).spec.conversion;
    expect(await conversion()).toMatchObject({ strategy: 'Webhook' });
    await cluster.stop();
    expect(await conversion()).toEqual({ strategy: 'None' });
    await existing.delete(definition);
    await existing.waitFor(definition, 'delete');
  });

  it('leaves rollouts to the controllers and nodes of the cluster', async () => {
    await using cluster = await on({ controllers: '*', nodes: 5 });
    const labels = { app: 'web' };
    await cluster.client.create<Deployment>(Deployment, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'default', name: 'web' } },
      spec: {
        ...{ replicas: 2, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      },
    });
    await cluster.waitFor('deployment/web', 'rollout');
    expect(await names('nodes')).toEqual(['node-0']);
    await cluster.stop();
    expect(await existing.list<Pod>('pods', { labelSelector: 'app=web' })).toEqual([]);
  });

  it('has access for its service accounts, with a kubeconfig of their own', async () => {
    await using cluster = await on({
      manifests: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { namespace: 'default', name: 'robot' },
      },
    });
    const robot = await cluster.user('system:serviceaccount:default:robot');
    await expect(robot.client.list(Node)).rejects.toThrow(
      'User "system:serviceaccount:default:robot" cannot list resource "nodes"',
    );
    const stopper = new AbortController();
    const manager = await createManager({
      ...{ name: 'as-robot', kubeconfig: robot.env.KUBECONFIG, logger: silentLogger, coordination: 'local' },
    });
    await expect(manager.client.list(ServiceAccount)).rejects.toThrow('serviceaccount:default:robot');
    stopper.abort();
    expect(statSync(robot.kubeconfig.path).mode & 0o777).toBe(0o600);
    await expect(cluster.user('jane')).rejects.toThrow('users: ');
  });

  it('cannot say when all is quiet there, nor take it with it', async () => {
    await using cluster = await on({});
    for (const what of [cluster.settled(), cluster.snapshot()])
      await expect(what).rejects.toThrow(/is not for an existing cluster/);
  });

  it('has removed what it made when its start fails', async () => {
    const bad = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'Bad Name' }, spec: {} };
    await expect(on({ manifests: [namespace('half'), bad] })).rejects.toThrow(/Bad Name/);
    expect(await names('namespaces')).not.toContain('half');
  });

  it('says which file does not name a cluster', async () => {
    const missing = startTestCluster({ existingCluster: { kubeconfig: '/nowhere/kubeconfig' } });
    await expect(missing).rejects.toThrow(/^kubeconfig \/nowhere\/kubeconfig: /);
    await expect(
      on({ existingCluster: { kubeconfig: existing.kubeconfig.path, context: 'other' } }),
    ).rejects.toThrow('there is no context "other"');
  });
});

it('a test cluster on an API server alone brings controllers and nodes, and takes them away', async () => {
  await using api = await startTestCluster({ controllers: [], nodes: 0 });
  const cluster = await startTestCluster({
    existingCluster: { kubeconfig: api.kubeconfig.path, bare: true },
    ...{ controllers: ['deployment', 'replicaset'], nodes: 1 },
  });
  const labels = { app: 'web' };
  await cluster.apply({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
    spec: {
      ...{ replicas: 2, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  });
  await cluster.waitFor('deployment/web', 'rollout');
  await cluster.stop();
  await waitFor(async () => (await api.list('pods')).length === 0, { what: 'no pods' });
  for (const resource of ['nodes', 'deployments', 'replicasets'])
    expect(await api.list(resource)).toEqual([]);
});
