import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, isTerminating } from '../../src/machinery/kubernetes/index.js';
import { MutatingWebhookConfiguration } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { startWebhookServer } from '../integration/support/webhook-server.js';
import type { WebhookServer } from '../integration/support/webhook-server.js';
import { PolicyUp } from './support/policy-up.js';

/** A webhook that injects a sidecar into new pods, as a mesh does. */
class Injector {
  image = 'proxy:1';
  trials = 0;
  private server: WebhookServer | undefined;

  async start(): Promise<object> {
    this.server = await startWebhookServer([], ({ request }) => {
      if (request.dryRun === true) this.trials += 1;
      const sidecar = { name: 'proxy', image: this.image };
      const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/spec/containers/-', value: sidecar }]));
      const response = {
        ...{ uid: request.uid, allowed: true, patchType: 'JSONPatch' },
        patch: patch.toString('base64'),
      };
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
      return { text: JSON.stringify(review) };
    });
    const { address, caBundle } = this.server;
    return { url: `https://${address}/inject`, caBundle };
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }
}

describe.skipIf(!anyKubectl())('pods with the sidecar of an earlier version', () => {
  const injector = new Injector();
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start('--', '--use-service-account-credentials');
    const clientConfig = await injector.start();
    await lab.client.create(MutatingWebhookConfiguration, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'mesh', labels: { version: '1' } },
      webhooks: [
        {
          ...{
            name: 'inject.example.com',
            clientConfig,
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
      ],
    });
  });
  afterAll(async () => {
    await lab.stop();
    await injector.stop();
  });

  async function create(name: string, annotations: Record<string, string>): Promise<void> {
    const deployment = aDeployment({ name, replicas: 2 });
    deployment.metadata.annotations = annotations;
    await lab.client.create(Deployment, deployment);
    const { code, stderr } = await lab.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
    expect(code, stderr).toBe(0);
  }

  async function sidecars(name: string): Promise<string> {
    const pods = (await lab.pods()).filter(
      (pod) => pod.metadata.labels?.['app'] === name && !isTerminating(pod),
    );
    return pods.map(({ spec }) => spec.containers.at(-1)?.image).join();
  }

  const becomes = (name: string, images: string): Promise<unknown> =>
    waitFor(async () => (await sidecars(name)) === images, {
      what: `${name} to have ${images}`,
      timeoutMs: 120_000,
    });

  async function drift(name: string): Promise<string> {
    const path = String.raw`jsonpath={.metadata.annotations.rollkeeper\.dev/admission-drift}`;
    return (await lab.kubectl('get', 'deployment', name, '-o', path)).stdout;
  }

  it('roll once after the mesh was upgraded, although the leader is killed in the middle [istio#3831]', async () => {
    await create('web', { 'rollkeeper.dev/restart-on': 'admission' });
    await create('told', {});
    expect(await sidecars('web')).toBe('proxy:1,proxy:1');
    injector.image = 'proxy:2';
    await lab.kubectl('label', 'mutatingwebhookconfiguration', 'mesh', 'version=2', '--overwrite');
    await waitFor(async () => (await sidecars('web')).includes('proxy:2'), {
      what: 'the first new sidecar',
      timeoutMs: 120_000,
    });
    await lab.killLeader();
    await becomes('web', 'proxy:2,proxy:2');
    const { code } = await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');
    expect(code).toBe(0);
    const history = await lab.kubectl('rollout', 'history', 'deployment/web');
    expect(history.stdout).toContain('2         2 of 2 pods differ from what admission gives new ones');
    expect(history.stdout).not.toMatch(/^3 /m);
  });

  it('are shown, and stay, without the policy [cloudnative-pg#10418]', async () => {
    await waitFor(async () => (await drift('told')).includes('"stale":2'), {
      what: 'the drift to be shown',
      timeoutMs: 120_000,
    });
    expect(await sidecars('told')).toBe('proxy:1,proxy:1');
    const explained = await lab.rollkeeper('explain', 'deployment/told');
    expect(explained.stdout).toContain('differ from what admission gives new ones: containers/proxy/image');
    const { adminUrl } = await lab.up.leader();
    const metric = async (): Promise<boolean> =>
      /^rollkeeper_drifted_deployments(?:\{[^}]*\})? 1$/m.test(
        await (await fetch(`${adminUrl}/metrics`)).text(),
      );
    await waitFor(metric, { what: 'the metric to count it', timeoutMs: 30_000 });
  });

  it('cost no request once no webhook is called for pods', async () => {
    await lab.kubectl('delete', 'mutatingwebhookconfiguration', 'mesh');
    await waitFor(async () => (await drift('told')) === '', { what: 'the record to go', timeoutMs: 60_000 });
    const before = injector.trials;
    await lab.kubectl('rollout', 'restart', 'deployment/told');
    await becomes('told', 'web:1,web:1');
    expect(injector.trials).toBe(before);
  });
});
