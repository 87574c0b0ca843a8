import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createAdmissionDriftController,
  createDeploymentController,
} from '../../src/controllers/deployment/index.js';
import { Deployment, Pod, isTerminating } from '../../src/machinery/kubernetes/index.js';
import { MutatingWebhookConfiguration } from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { defineWebhook } from '../../src/webhooks/index.js';
import { aDeployment } from '../e2e/support/a-deployment.js';

const DRIFT = 'rollkeeper.dev/admission-drift';

/** The image of the sidecar that the webhook injects today, and how often it was asked on trial. */
let sidecar = 'proxy:1';
let trials = 0;
let stamp = 0;

const injector = defineWebhook(Pod, {
  operations: ['CREATE'],
  default({ metadata, spec }, { dryRun }) {
    if (dryRun) trials += 1;
    const value = `${metadata.name} ${(stamp += 1)}`;
    spec.containers.push({ name: 'proxy', image: sidecar, env: [{ name: 'STARTED', value }] });
  },
});

// It runs at night, since how many looks there are depends on when the first rollouts end; the specs of src/controllers/deployment/drift count each.
describe('pods whose sidecar is older than what admission injects today [istio#3831, cloudnative-pg#10418]', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    const controllers = [
      ...['replicaset', 'serviceaccount'],
      createDeploymentController({ watchAdmission: true }),
      createAdmissionDriftController('apps/v1', { gatherMs: 20 }),
    ];
    cluster = await startTestCluster({ controllers, nodes: 1, webhooks: [injector] });
  });
  afterAll(() => cluster.stop());

  async function create(name: string, restartOn?: string): Promise<void> {
    const deployment = aDeployment({ name, replicas: 2 });
    if (restartOn !== undefined) deployment.metadata.annotations = { 'rollkeeper.dev/restart-on': restartOn };
    await cluster.client.create(Deployment, deployment);
    await expect.poll(() => sidecars(name), { timeout: 60_000 }).toEqual([sidecar, sidecar]);
  }

  async function sidecars(name: string): Promise<readonly (string | undefined)[]> {
    const pods = (await cluster.list<Pod>('pods')).filter(
      (pod) =>
        pod.metadata.labels?.['app'] === name && pod.status?.phase === 'Running' && !isTerminating(pod),
    );
    return pods.map(({ spec }) => spec.containers.find((each) => each.name === 'proxy')?.image);
  }

  async function drift(name: string): Promise<string> {
    const found = await cluster.client.get<Deployment>(Deployment, { namespace: 'default', name });
    return found.metadata.annotations?.[DRIFT] ?? '';
  }

  /** The webhook injects something else, and its configuration changes, as an upgrade of a mesh has it. */
  async function upgrade(image: string): Promise<void> {
    sidecar = image;
    const { items } = await cluster.client.list<MutatingWebhookConfiguration>(MutatingWebhookConfiguration);
    const [{ metadata } = { metadata: { name: '' } }] = items;
    const body = { metadata: { labels: { version: image.replace(':', '-') } } };
    await cluster.client.patch(MutatingWebhookConfiguration, metadata, { type: 'merge', body });
  }

  it('are told, and left alone without the policy; under it they roll once, and no drift is left', async () => {
    await create('told');
    await create('rolled', 'admission');
    await expect.poll(() => trials, { timeout: 60_000 }).toBeGreaterThanOrEqual(4);
    expect([await drift('told'), await drift('rolled')]).toEqual(['', '']);
    const before = trials;
    await upgrade('proxy:2');
    await expect.poll(() => sidecars('rolled'), { timeout: 60_000 }).toEqual(['proxy:2', 'proxy:2']);
    await expect.poll(() => drift('told'), { timeout: 60_000 }).toContain('"stale":2,"pods":2');
    expect(await drift('told')).toContain('"parts":["containers/proxy/image"]');
    expect(await sidecars('told')).toEqual(['proxy:1', 'proxy:1']);
    await expect.poll(() => drift('rolled'), { timeout: 60_000 }).toBe('');
    // Two for each Deployment and each look: the change, the rollout that has ended, and looks that the first rollouts still had to come.
    await expect.poll(() => trials - before, { timeout: 60_000 }).toBeGreaterThanOrEqual(6);
    expect(trials - before).toBeLessThanOrEqual(12);
    const { metadata, spec } = await cluster.client.get<Deployment>(Deployment, {
      namespace: 'default',
      name: 'rolled',
    });
    expect(spec.template.metadata?.annotations?.['rollkeeper.dev/admission-digest']).toMatch(
      /^[0-9a-f]{16}$/,
    );
    expect(metadata.annotations?.['kubernetes.io/change-cause']).toContain('containers/proxy/image');
  });

  it('are asked about no more once no webhook is called for pods', async () => {
    const { items } = await cluster.client.list<MutatingWebhookConfiguration>(MutatingWebhookConfiguration);
    for (const { metadata } of items) await cluster.client.delete(MutatingWebhookConfiguration, metadata);
    await expect.poll(() => drift('told'), { timeout: 60_000 }).toBe('');
    const before = trials;
    const body = { spec: { template: { metadata: { annotations: { round: '2' } } } } };
    const told = { namespace: 'default', name: 'told' };
    await cluster.client.patch(Deployment, told, { type: 'merge', body });
    await expect.poll(() => sidecars('told'), { timeout: 60_000 }).toEqual([undefined, undefined]);
    expect(trials).toBe(before);
  });
});
