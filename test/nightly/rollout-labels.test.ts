import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('labels of the version', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    const web = aDeployment({ name: 'web', replicas: 3 });
    web.metadata.annotations = {
      'rollkeeper.dev/canary-labels': 'role=canary',
      'rollkeeper.dev/stable-labels': 'role=stable',
      'rollkeeper.dev/steps': '1; approve',
    };
    await lab.client.create(Deployment, web);
    expect((await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')).code).toBe(0);
  });

  afterAll(() => lab.stop());

  /** UID and image of the pods with a label, by kubectl. */
  const podsWith = async (label: string): Promise<readonly string[]> => {
    const path = '{range .items[*]}{.spec.containers[0].image} {.metadata.uid}{"\\n"}{end}';
    const { stdout } = await lab.kubectl('get', 'pods', '-l', label, '-o', `jsonpath=${path}`);
    return stdout.trim() === '' ? [] : stdout.trim().split('\n').toSorted();
  };

  const untilCount = (label: string, count: number): Promise<unknown> =>
    waitFor(async () => (await podsWith(label)).length === count, {
      what: `${count} pods with ${label}`,
      timeoutMs: 60_000,
    });

  it('follow the rollout on live pods, none of which restarts, although the leader is killed', async () => {
    await untilCount('role=stable', 3);
    await lab.kubectl('set', 'image', 'deployment/web', 'web=web:2');
    await untilCount('role=canary', 1);
    expect((await podsWith('role=canary'))[0]).toMatch(/^web:2 /);
    const [canary] = await podsWith('role=canary');
    await lab.kubectl('annotate', 'deployment/web', 'rollkeeper.dev/approve=jane');
    await lab.killLeader();
    const rolledOut = await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');
    expect(rolledOut.code, rolledOut.stdout).toBe(0);
    await untilCount('role=stable', 3);
    await untilCount('role=canary', 0);
    expect(await podsWith('role=stable')).toContain(canary);
    const events = await lab.kubectl('get', 'events', '--field-selector', 'reason=PodsMarked');
    expect(events.stdout).toContain('in place');
  });

  it('go with the annotations', async () => {
    const before = await podsWith('app=web');
    await lab.kubectl(
      'annotate',
      'deployment/web',
      'rollkeeper.dev/canary-labels-',
      'rollkeeper.dev/stable-labels-',
    );
    await untilCount('role', 0);
    expect(await podsWith('app=web')).toEqual(before);
  });
});
