import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('a Deployment that loses a pod after its rollout', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    const web = aDeployment({ name: 'web', replicas: 2 });
    web.metadata.annotations = { 'rollkeeper.dev/progress-after': '10s' };
    await lab.client.create(Deployment, web);
    expect((await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')).code).toBe(0);
  });

  afterAll(() => lab.stop());

  const onAllNodes = async (verb: 'cordon' | 'uncordon'): Promise<void> => {
    const nodes = (await lab.kubectl('get', 'nodes', '-o', 'name')).stdout.trim().split('\n');
    for (const node of nodes) await lab.kubectl(verb, node);
  };

  /** The Deployments that the leader counts. */
  const degraded = async (): Promise<number> => {
    const { adminUrl } = await lab.up.leader();
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(/^rollkeeper_degraded_deployments(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
  };

  it('is degraded in time with the cause, although the leader that saw the loss is gone [kubernetes#106054, #93933, #78678]', async () => {
    await onAllNodes('cordon');
    const [pod] = await lab.pods();
    await lab.kubectl('delete', 'pod', pod?.metadata.name ?? '', '--wait=false');
    const lost = await lab.kubectl(
      'wait',
      '--for=condition=Degraded=Unknown',
      'deployment/web',
      '--timeout=60s',
    );
    expect(lost.code, lost.stderr).toBe(0);
    await lab.killLeader();
    const waited = await lab.kubectl('wait', '--for=condition=Degraded', 'deployment/web', '--timeout=90s');
    expect(waited.code, waited.stderr).toBe(0);
    const path = '{.status.conditions[?(@.type=="Degraded")].message}';
    const { stdout } = await lab.kubectl('get', 'deployment', 'web', '-o', `jsonpath=${path}`);
    expect(stdout).toContain('1 of 2 pods are available');
    expect(stdout).toContain('Unschedulable');
    await waitFor(async () => (await degraded()) === 1, {
      what: 'the metric to count it',
      timeoutMs: 30_000,
    });
    const events = await lab.kubectl('get', 'events', '--field-selector', 'reason=Degraded');
    expect(events.stdout).toContain('1 of 2 pods are available');
  });

  it('is not any more once the pod is back', async () => {
    await onAllNodes('uncordon');
    const waited = await lab.kubectl(
      'wait',
      '--for=condition=Degraded=False',
      'deployment/web',
      '--timeout=90s',
    );
    expect(waited.code, waited.stderr).toBe(0);
    await waitFor(async () => (await degraded()) === 0, {
      what: 'the metric to forget it',
      timeoutMs: 30_000,
    });
  });
});
