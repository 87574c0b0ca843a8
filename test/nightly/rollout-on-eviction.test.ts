import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { isPodReady } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('kubectl drain of a one-replica Deployment behind a budget', () => {
  let lab: PolicyUp;
  let history: RolloutHistory;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    expect((await lab.applyExample('on-eviction.yaml')).code).toBe(0);
    history = new RolloutHistory(lab.client, 'default');
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await lab.stop();
  });

  const nodeOfPod = async (): Promise<string> => (await lab.pods())[0]?.spec.nodeName ?? '';

  /** The fewest ready pods that were there at any time. */
  const fewestReady = (): number => {
    const ready = new Map<string, boolean>();
    let fewest = Infinity;
    for (const { deleted, kind, object } of history.events()) {
      if (kind !== 'Pod') continue;
      ready.set(object.metadata.name, !deleted && isServing(object));
      fewest = Math.min(fewest, [...ready.values()].filter(Boolean).length);
    }
    return fewest;
  };

  it('ends, and there is a ready pod at any time', async () => {
    const node = await nodeOfPod();
    const drained = await lab.kubectl('drain', node, '--ignore-daemonsets', '--timeout=120s');
    expect(drained.code, drained.stderr).toBe(0);
    expect(drained.stderr).toContain('before another one is available in its place');
    expect(await nodeOfPod()).not.toBe(node);
    expect(fewestReady()).toBe(1);
    await lab.kubectl('uncordon', node);
  });

  it('ends as well where the leader dies while the pod in its place starts', async () => {
    const node = await nodeOfPod();
    const drained = lab.kubectl('drain', node, '--ignore-daemonsets', '--timeout=120s');
    await lab.killLeader();
    expect((await drained).code).toBe(0);
    expect(await nodeOfPod()).not.toBe(node);
    expect(fewestReady()).toBe(1);
    await lab.kubectl('uncordon', node);
  });

  it('waits, and says for what, where no other node takes the pod', async () => {
    const nodes = (await lab.kubectl('get', 'nodes', '-o', 'name')).stdout.trim().split('\n');
    for (const node of nodes) await lab.kubectl('cordon', node);
    const pod = (await lab.pods())[0]?.metadata.name ?? '';
    const drained = await lab.kubectl('drain', await nodeOfPod(), '--ignore-daemonsets', '--timeout=7s');
    expect(drained.code).not.toBe(0);
    const explained = await lab.rollkeeper('explain', 'deployment/web');
    expect(explained.stdout).toContain(
      `pod ${pod} is to be evicted, and goes when a pod is available in its place`,
    );
    expect(explained.stdout).toContain('unschedulable');
    expect(fewestReady()).toBe(1);
    expect(findViolations(history.events())).toEqual([]);
  });
});

function isServing(object: KubernetesObject): boolean {
  return isPodReady(object as never) && object.metadata.deletionTimestamp === undefined;
}
