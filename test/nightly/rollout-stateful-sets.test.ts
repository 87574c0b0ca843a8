import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPodReady } from '../../src/machinery/kubernetes/index.js';
import { StatefulSet } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const HELD = 2 ** 31 - 1;

describe.skipIf(!anyKubectl())('a StatefulSet under policies, with kubectl', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    expect((await lab.applyExample('stateful-set.yaml')).code).toBe(0);
    await runs('nginx:1.25 nginx:1.25 nginx:1.25');
    await held();
  });

  afterAll(() => lab.stop());

  const set = (): Promise<StatefulSet> =>
    lab.client.get<StatefulSet>(StatefulSet, { namespace: 'default', name: 'db' });

  /** The images of the pods in their order, with a mark for one that is not ready. */
  const images = async (): Promise<string> =>
    (await lab.pods())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
      .map((pod) => `${pod.spec.containers[0]?.image}${isPodReady(pod) ? '' : '!'}`)
      .join(' ');

  const runs = (wanted: string): Promise<unknown> =>
    waitFor(async () => (await images()) === wanted, { what: `pods of ${wanted}`, timeoutMs: 90_000 });

  const held = (): Promise<unknown> =>
    waitFor(async () => (await set()).spec.updateStrategy?.rollingUpdate?.partition === HELD, {
      what: 'the StatefulSet to be held',
      timeoutMs: 60_000,
    });

  /** Waits until its rollout is described so. */
  const isExplained = (text: string): Promise<unknown> =>
    waitFor(async () => (await lab.rollkeeper('explain', 'statefulset/db')).stdout.includes(text), {
      what: `db to be explained by ${text}`,
      timeoutMs: 60_000,
    });

  const change = async (image: string): Promise<void> => {
    expect((await lab.kubectl('set', 'image', 'statefulset/db', `db=${image}`)).code).toBe(0);
  };

  it('goes one pod far, and on when it is approved, although the leader dies in between', async () => {
    await change('nginx:1.26');
    await isExplained('Step 2 of 2 (approve): waits for an approval');
    expect(await images()).toBe('nginx:1.25 nginx:1.25 nginx:1.26');
    await lab.killLeader();
    expect((await lab.rollkeeper('promote', 'statefulset/db', '--by', 'ann')).stdout).toContain(
      'statefulsets.apps/db approved by ann',
    );
    const waited = await lab.rollkeeper('rollout', 'wait', 'statefulset/db', '--timeout', '2m');
    expect(waited, waited.stderr).toMatchObject({ code: 0 });
    await runs('nginx:1.26 nginx:1.26 nginx:1.26');
    await held();
    const { stdout } = await lab.kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s');
    expect(stdout).toMatch(/rolling update complete|partitioned roll out complete/);
  });

  it('goes back by itself from a version whose pod is not available in time, past that pod', async () => {
    await change('nginx:broken');
    await waitFor(async () => (await images()).includes('nginx:broken'), {
      what: 'a pod of the broken version',
      timeoutMs: 60_000,
    });
    await lab.killLeader();
    const waited = await lab.rollkeeper('rollout', 'wait', 'statefulset/db', '--timeout', '2m');
    expect(waited.code, `${waited.stdout}${waited.stderr}`).toBe(4);
    await runs('nginx:1.26 nginx:1.26 nginx:1.26');
    expect((await set()).spec.template.spec?.containers[0]?.image).toBe('nginx:1.26');
    const { stdout } = await lab.kubectl('get', 'events', '-o', 'custom-columns=R:.reason,M:.message');
    expect(stdout).toMatch(/RolledBack .*not available 20s after their creation/);
  });

  it('is aborted in its middle, and its history says how each revision came about', async () => {
    await change('nginx:1.27');
    await isExplained('waits for an approval');
    expect((await lab.rollkeeper('abort', 'statefulset/db', '--by', 'ann')).code).toBe(0);
    await runs('nginx:1.26 nginx:1.26 nginx:1.26');
    await held();
    const { stdout } = await lab.rollkeeper('rollout', 'history', 'statefulset/db', '-o', 'json');
    const entries = JSON.parse(stdout) as { change?: string; images?: string[]; result?: unknown }[];
    expect(stdout).toContain('aborted');
    expect(entries.length).toBeGreaterThanOrEqual(4);
  });

  it('is undone to the version before, which was good, without its steps', async () => {
    const undone = await lab.rollkeeper('rollout', 'undo', 'statefulset/db', '--to-revision', '1');
    expect(undone, undone.stderr).toMatchObject({ code: 0 });
    await runs('nginx:1.25 nginx:1.25 nginx:1.25');
    await held();
  });

  it('has no pause, and says how it is held instead', async () => {
    const paused = await lab.rollkeeper('rollout', 'pause', 'statefulset/db');
    expect(paused.code).toBe(1);
    expect(paused.stderr).toContain('rollkeeper.dev/freeze');
    await lab.kubectl('annotate', 'statefulset/db', 'rollkeeper.dev/freeze=inventory');
    await change('nginx:1.28');
    await isExplained('held by a freeze: inventory');
    expect(await images()).toBe('nginx:1.25 nginx:1.25 nginx:1.25');
    await lab.kubectl('annotate', 'statefulset/db', 'rollkeeper.dev/freeze-');
    await isExplained('waits for an approval');
  });

  it('gets its partition back when it asks for no policy any more', async () => {
    await lab.kubectl(
      'annotate',
      'statefulset/db',
      ...['steps-', 'on-failure-', 'fail-after-'].map((name) => `rollkeeper.dev/${name}`),
    );
    await runs('nginx:1.28 nginx:1.28 nginx:1.28');
    const { metadata, spec } = await set();
    expect(spec.updateStrategy?.rollingUpdate?.partition).toBe(0);
    expect(metadata.annotations).not.toHaveProperty(['rollkeeper.dev/rollout']);
  });
});
