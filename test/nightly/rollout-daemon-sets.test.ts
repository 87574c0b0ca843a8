import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPodReady } from '../../src/machinery/kubernetes/index.js';
import { DaemonSet } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('a DaemonSet under policies, with kubectl', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    expect((await lab.applyExample('daemon-set.yaml')).code).toBe(0);
    await runs({ 'nginx:1.25': 3 });
    await waitFor(async () => (await set()).spec.updateStrategy?.type === 'OnDelete', {
      what: 'the DaemonSet to be held',
      timeoutMs: 60_000,
    });
  });

  afterAll(() => lab.stop());

  const set = (): Promise<DaemonSet> =>
    lab.client.get<DaemonSet>(DaemonSet, { namespace: 'default', name: 'agent' });

  /** The number of ready pods of each image, if none else is there. */
  const runs = (wanted: Record<string, number>): Promise<unknown> =>
    waitFor(
      async () => {
        const pods = (await lab.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        if (!pods.every(isPodReady)) return false;
        const images = Map.groupBy(pods, ({ spec }) => spec.containers[0]?.image ?? '');
        const found = Object.fromEntries([...images].map(([image, own]) => [image, own.length]));
        return JSON.stringify(found, Object.keys(found).sort()) === JSON.stringify(wanted);
      },
      { what: `pods of ${JSON.stringify(wanted)}`, timeoutMs: 90_000 },
    );

  const change = async (image: string): Promise<void> => {
    expect((await lab.kubectl('set', 'image', 'daemonset/agent', `agent=${image}`)).code).toBe(0);
  };

  it('goes one node far, and on when it is approved, although the leader dies in between', async () => {
    await change('nginx:1.26');
    await runs({ 'nginx:1.25': 2, 'nginx:1.26': 1 });
    await waitFor(
      async () =>
        (await lab.rollkeeper('explain', 'daemonset/agent')).stdout.includes('waits for an approval'),
      { what: 'the wait for an approval', timeoutMs: 60_000 },
    );
    await lab.killLeader();
    expect((await lab.rollkeeper('promote', 'daemonset/agent', '--by', 'ann')).code).toBe(0);
    const waited = await lab.rollkeeper('rollout', 'wait', 'daemonset/agent', '--timeout', '2m');
    expect(waited, waited.stderr).toMatchObject({ code: 0 });
    await runs({ 'nginx:1.26': 3 });
  });

  it('goes back by itself from a version whose pod is not available in time', async () => {
    await change('nginx:broken');
    const waited = await lab.rollkeeper('rollout', 'wait', 'daemonset/agent', '--timeout', '2m');
    expect(waited.code, `${waited.stdout}${waited.stderr}`).toBe(4);
    await runs({ 'nginx:1.26': 3 });
    expect((await set()).spec.template.spec?.containers[0]?.image).toBe('nginx:1.26');
  });
});
