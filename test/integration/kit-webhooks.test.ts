import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/machinery/listening.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import {
  ConfigMap,
  Namespace,
  Secret,
  createManager,
  defineController,
  defineKind,
  silentLogger,
  CustomResourceDefinition,
  ValidatingWebhookConfiguration,
} from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { defineWebhook, spoke, webhookServer } from '../../src/webhooks/index.js';

interface Website extends KubernetesObject {
  spec: { host: string; port?: number };
}
interface OldWebsite extends KubernetesObject {
  spec: { address: string };
}
const GROUP = { group: 'example.com', kind: 'Website' };
const Website = defineKind<Website>({ ...GROUP, version: 'v1' });
const OldWebsite = defineKind<OldWebsite>({ ...GROUP, version: 'v1beta1' });

const schemaOf = (spec: object) => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: spec } } },
});
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'websites.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Website', plural: 'websites', singular: 'website', listKind: 'WebsiteList' },
    scope: 'Namespaced',
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: schemaOf({ host: { type: 'string' }, port: { type: 'integer' } }),
      },
      { name: 'v1beta1', served: true, storage: false, schema: schemaOf({ address: { type: 'string' } }) },
    ],
  },
};

const seen: { operation: string; dryRun: boolean; user: string; old: number | undefined }[] = [];
const websites = defineWebhook(Website, {
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  default(website) {
    website.spec.port ??= 80;
  },
  validate({ metadata, spec }, { dryRun, old, operation, user, warn }) {
    seen.push({ operation, dryRun, user: user.username, old: old?.spec.port });
    if (operation === 'DELETE') return metadata.labels?.['keep'] ? 'it is to be kept' : undefined;
    if (spec.host.endsWith('.local')) warn('nobody outside can reach .local');
    if (spec.host === 'boom') throw new Error('a mistake in the webhook');
    const problems = [];
    if (spec.host === '') problems.push({ field: 'spec.host', message: 'must not be empty' });
    if (spec.port === 0) problems.push({ field: 'spec.port', message: 'must not be 0' });
    return problems;
  },
  convert: [
    spoke<OldWebsite, Website>(OldWebsite, {
      toHub: ({ spec: { address } }) => {
        const [host = '', port] = address.split(':');
        return { spec: { host, ...(port !== undefined && { port: Number(port) }) } };
      },
      fromHub: ({ spec: { host, port } }) => ({
        spec: { address: port === undefined ? host : `${host}:${port}` },
      }),
    }),
  ],
});

const website = (host: string, more: Partial<Website['metadata']> = {}): Website => ({
  apiVersion: 'example.com/v1',
  kind: 'Website',
  metadata: { name: `w-${randomUUID().slice(0, 8)}`, namespace: 'default', ...more },
  spec: { host },
});

describe('webhooks of a test cluster', () => {
  let cluster: TestCluster;
  const old = { apiVersion: 'example.com/v1beta1', kind: 'Website' };
  beforeAll(async () => {
    cluster = await startTestCluster({
      ...{ controllers: [], nodes: 0, webhooks: [websites] },
      manifests: [
        definition,
        { ...old, metadata: { name: 'old', namespace: 'default' }, spec: { address: 'old:8080' } },
      ],
    });
  });
  afterAll(() => cluster.stop());

  it('fill in, and see who asks', async () => {
    const { metadata, spec } = await cluster.client.create(Website, website('shop'));
    expect(spec).toEqual({ host: 'shop', port: 80 });
    await cluster.client.patch(
      Website,
      metadata,
      { type: 'merge', body: { spec: { port: 81 } } },
      { dryRun: true },
    );
    expect(seen.slice(-2)).toEqual([
      { operation: 'CREATE', dryRun: false, user: 'admin', old: undefined },
      { operation: 'UPDATE', dryRun: true, user: 'admin', old: 80 },
    ]);
  });

  it('refuse field by field, or with a sentence', async () => {
    const bad = { ...website(''), spec: { host: '', port: 0 } };
    await expect(cluster.client.create(Website, bad)).rejects.toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: `admission webhook "websites.example.com" denied the request: Website.example.com ${JSON.stringify(bad.metadata.name)} is invalid: [spec.host: must not be empty, spec.port: must not be 0]`,
      status: { details: { causes: [{ field: 'spec.host' }, { field: 'spec.port' }] } },
    });
    const kept = await cluster.client.create(Website, website('kept', { labels: { keep: 'yes' } }));
    await expect(cluster.client.delete(Website, kept.metadata)).rejects.toMatchObject({
      code: 403,
      message: 'admission webhook "websites.example.com" denied the request: it is to be kept',
    });
  });

  it('fail closed where they have a mistake', async () => {
    await expect(cluster.client.create(Website, website('boom'))).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining('failed calling webhook "websites.example.com"') as string,
    });
  });

  it('convert between versions, also what manifests brought in an older one', async () => {
    const ref = { namespace: 'default', name: 'old' };
    expect((await cluster.client.get<Website>(Website, ref)).spec).toEqual({ host: 'old', port: 8080 });
    const made = await cluster.client.create(Website, website('new'));
    const shown = await cluster.client.get<OldWebsite>(OldWebsite, made.metadata);
    expect(shown.spec).toEqual({ address: 'new:80' });
  });
});

describe('the webhook server of a manager', () => {
  it('keeps its certificate, the configurations and the definition, is ready with them, and is metered', async () => {
    await using cluster = await startTestCluster({ controllers: [], nodes: 0, manifests: [definition] });
    const port = await freePort();
    const quiet = defineController({ name: 'quiet', for: Website, reconcile: async () => undefined });
    const hooks = webhookServer({
      webhooks: [websites],
      port,
      host: '127.0.0.1',
      reachedAt: { url: `https://127.0.0.1:${port}` },
    });
    const manager = await createManager({
      ...{ name: 'hooked', kubeconfig: cluster.kubeconfig.path, logger: silentLogger },
      ...{ coordination: 'local', extensions: [hooks], probes: { port: 0 } },
    });
    const stopper = new AbortController();
    const running = manager.add(quiet).run(stopper.signal);
    const url = await waitFor(() => manager.probesUrl, { what: 'the probes' });
    await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200, { what: 'readiness' });
    // The server hears of a configuration a moment after it was written.
    await waitFor(
      async () => (await cluster.client.create(Website, website('probe'), { dryRun: true })).spec.port === 80,
      { what: 'the server to ask the webhook' },
    );
    const { spec } = await cluster.client.create(Website, website('shop'));
    expect(spec.port).toBe(80);
    const { data } = await cluster.client.get<Secret>(Secret, {
      namespace: 'default',
      name: 'hooked-webhooks',
    });
    expect(Object.keys(data ?? {}).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    const configuration = await cluster.client.get(ValidatingWebhookConfiguration, { name: 'hooked' });
    expect(configuration).toMatchObject({
      webhooks: [{ name: 'websites.example.com', clientConfig: { caBundle: data?.['ca.crt'] } }],
    });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(
      /controller_runtime_webhook_requests_total\{[^}]*webhook="\/validate\/websites.example.com"[^}]*\} [1-9]/,
    );
    expect(metrics).toContain('rollkeeper_webhook_certificate_expiry_timestamp_seconds ');
    expect(await (await fetch(`${url}/readyz?verbose`)).text()).toContain('[+]webhooks ok');
    stopper.abort();
    await running;
  });

  it('is not ready while its definition is not converted, and says so', async () => {
    await using cluster = await startTestCluster({ controllers: [], nodes: 0, manifests: [definition] });
    const port = await freePort();
    const hooks = webhookServer({
      ...{ webhooks: [websites], port, host: '127.0.0.1', configurations: 'leave' },
      reachedAt: { url: `https://127.0.0.1:${port}` },
    });
    const manager = await createManager({
      ...{ name: 'unconverted', kubeconfig: cluster.kubeconfig.path, logger: silentLogger },
      ...{ coordination: 'local', extensions: [hooks], probes: { port: 0 } },
    });
    const stopper = new AbortController();
    const quiet = defineController({ name: 'quiet', for: Namespace, reconcile: async () => undefined });
    const running = manager.add(quiet).run(stopper.signal);
    const url = await waitFor(() => manager.probesUrl, { what: 'the probes' });
    const readiness = async () => (await fetch(`${url}/readyz?verbose`)).text();
    await waitFor(async () => (await readiness()).includes('spec.conversion.strategy is None'), {
      what: 'the reason',
    });
    const { data } = await cluster.client.get<Secret>(Secret, {
      namespace: 'default',
      name: 'unconverted-webhooks',
    });
    const clientConfig = { url: `https://127.0.0.1:${port}/convert/x`, caBundle: data?.['ca.crt'] };
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
    await cluster.client.patch(
      CustomResourceDefinition,
      { name: 'websites.example.com' },
      { type: 'merge', body: { spec: { conversion } } },
    );
    await waitFor(async () => (await readiness()).includes('[+]webhooks ok'), { what: 'readiness' });
    stopper.abort();
    await running;
  });

  it('puts the authority into the configuration that is installed, and touches nothing else of it', async () => {
    await using cluster = await startTestCluster({ controllers: [], nodes: 0 });
    const port = await freePort();
    const hook = { name: 'configmaps.core.k8s.io', sideEffects: 'None', admissionReviewVersions: ['v1'] };
    const url = `https://127.0.0.1:${port}/validate/${hook.name}`;
    await cluster.client.create(ValidatingWebhookConfiguration, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'patched' },
      webhooks: [{ ...hook, clientConfig: { url }, timeoutSeconds: 3 } as never],
    });
    const hooks = webhookServer({
      ...{ port, host: '127.0.0.1', reachedAt: { url }, configurations: 'patch' },
    }).add(defineWebhook(ConfigMap, { validate: () => 'no' }));
    const manager = await createManager({
      ...{ name: 'patched', kubeconfig: cluster.kubeconfig.path, logger: silentLogger },
      ...{ coordination: 'local', extensions: [hooks] },
    });
    const stopper = new AbortController();
    const quiet = defineController({ name: 'quiet', for: Namespace, reconcile: async () => undefined });
    const running = manager.add(quiet).run(stopper.signal);
    const patched = await waitFor(
      async () => {
        const found = await cluster.client.get(ValidatingWebhookConfiguration, { name: 'patched' });
        return JSON.stringify(found).includes('caBundle') && found;
      },
      { what: 'the caBundle' },
    );
    expect(patched).toMatchObject({ webhooks: [{ ...hook, timeoutSeconds: 3, clientConfig: { url } }] });
    stopper.abort();
    await running;
  });
});
