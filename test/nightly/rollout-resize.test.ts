import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('a resize in place, with kubectl', () => {
  let lab: PolicyUp;
  let before: string[];

  beforeAll(async () => {
    lab = await PolicyUp.start();
    expect((await lab.applyExample('resize.yaml')).code).toBe(0);
    before = await names();
  });

  afterAll(() => lab.stop());

  const names = async (): Promise<string[]> => (await lab.pods()).map(({ metadata }) => metadata.name).sort();

  /** cpu as nodes say that containers have it. */
  const given = async (): Promise<unknown[]> =>
    (await lab.pods()).map(
      ({ status }) => status?.containerStatuses?.[0]?.resources?.requests?.['cpu'] ?? 'none',
    );

  const allHave = (cpu: string): Promise<unknown> =>
    waitFor(
      async () => {
        const amounts = await given();
        return amounts.length === 6 && amounts.every((amount) => amount === cpu);
      },
      { what: `all pods to have ${cpu}`, timeoutMs: 60_000 },
    );

  it('replaces no pod, and keeps the revision before, also when the leader dies', async () => {
    await lab.kubectl('set', 'resources', 'deployment/web', '--requests=cpu=200m,memory=64Mi');
    await lab.killLeader();
    await allHave('200m');
    const status = await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
    expect(status).toMatchObject({ code: 0 });
    expect(await names()).toEqual(before);
    const { stdout } = await lab.kubectl('rollout', 'history', 'deployment/web');
    expect(stdout).toMatch(/^1 /m);
    expect(stdout).toMatch(/^2 /m);
  });

  it('goes back in place', async () => {
    expect(await lab.kubectl('rollout', 'undo', 'deployment/web')).toMatchObject({ code: 0 });
    await allHave('100m');
    await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
    expect(await names()).toEqual(before);
  });

  it('rolls out as usual where no node can ever have the room', async () => {
    await lab.kubectl('set', 'resources', 'deployment/web', '--requests=cpu=5000,memory=64Mi');
    await lab.says('ReplicaSetUpdated');
    await waitFor(
      async () => {
        const { stdout } = await lab.kubectl('get', 'events', '-o', 'custom-columns=R:.reason,M:.message');
        return /ResizeRefused.*enough allocatable resources: cpu/.test(stdout);
      },
      { what: 'the refusal to be told', timeoutMs: 60_000 },
    );
  });
});
