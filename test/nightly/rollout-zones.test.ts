import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '../../src/machinery/kubernetes/index.js';
import { isPodReady } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('a rollout zone by zone, with kubectl', () => {
  let lab: PolicyUp;
  let history: RolloutHistory;
  const zoneOfNode = new Map<string, string>();

  beforeAll(async () => {
    lab = await PolicyUp.start();
    const nodes = (await lab.kubectl('get', 'nodes', '-o', 'name')).stdout.trim().split('\n').sort();
    for (const [index, node] of nodes.entries()) {
      const zone = 'abc'[index] ?? '';
      zoneOfNode.set(node.replace('node/', ''), zone);
      await lab.kubectl('label', node, `topology.kubernetes.io/zone=${zone}`);
    }
    history = new RolloutHistory(lab.client, 'default');
    await history.start();
    expect((await lab.applyExample('zones.yaml')).code).toBe(0);
  });

  afterAll(async () => {
    await history.stop();
    await lab.stop();
  });

  /** The zones of the ready pods of an image that are not being deleted. */
  const zones = async (image: string): Promise<string> =>
    (await lab.pods())
      .filter((pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined)
      .filter(({ spec }) => spec.containers[0]?.image === image)
      .map(({ spec }) => zoneOfNode.get(spec.nodeName ?? '') ?? '?')
      .sort()
      .join('');

  /** The zones of the old pods, in the order in which they began to go. */
  const zonesLeft = (): readonly string[] => {
    const left = new Map<string, string>();
    for (const { deleted, kind, object } of history.events()) {
      if (kind !== 'Pod') continue;
      const { metadata, spec } = object as Pod;
      const isGoing = deleted || metadata.deletionTimestamp !== undefined;
      if (isGoing && spec.containers[0]?.image === 'nginx:1.25' && !left.has(metadata.name))
        left.set(metadata.name, zoneOfNode.get(spec.nodeName ?? '') ?? '?');
    }
    return [...left.values()];
  };

  it('stops in the first zone where the new version does not become ready', async () => {
    const before = await zones('nginx:1.25');
    expect(new Set(before)).toEqual(new Set(['a', 'b', 'c']));
    await lab.kubectl('set', 'image', 'deployment/web', 'web=nginx:broken');
    await waitFor(async () => (await zones('nginx:1.25')).length < before.length, {
      what: 'the first old pods to go',
      timeoutMs: 60_000,
    });
    const { stdout } = await lab.kubectl('get', 'events', '-o', 'custom-columns=REASON:.reason,M:.message');
    expect(stdout).toMatch(/RolloutZone .*old pods in zone a go now/);
    expect(stdout).not.toContain('zone b');
    const left = await zones('nginx:1.25');
    expect(before.endsWith(left), `${before} to ${left}`).toBe(true);
    expect(left).toContain('bb');
  });

  it('goes through all zones in order with one that does, also when the leader dies', async () => {
    await lab.kubectl('set', 'image', 'deployment/web', 'web=nginx:1.26');
    await waitFor(async () => (await zones('nginx:1.26')).length > 0, {
      what: 'a new pod',
      timeoutMs: 60_000,
    });
    await lab.killLeader();
    await lab.sized({ 'nginx:1.26': 6 });
    await lab.says('NewReplicaSetAvailable');
    // Pods show the order. Events may be lost with the process that was killed.
    expect(zonesLeft()).toEqual(zonesLeft().toSorted());
    expect(new Set(zonesLeft())).toEqual(new Set(['a', 'b', 'c']));
    expect(findViolations(history.events())).toEqual([]);
  });
});
