import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../machinery/kubernetes/index.js';
import { Node } from '../../../../machinery/kubernetes/index.js';
import { MINUTE_MS, PolicyLab } from '../../../../testing/policy-lab.js';
import { createDeploymentController } from '../../definition.js';

const ZONE = 'topology.kubernetes.io/zone';
const controller = createDeploymentController({ zones: true });

/** A Deployment in two zones, whose scheduler puts pods where `nodeOf` says. */
async function inZones(
  nodeOf: (pod: number) => string,
  policies: Record<string, string> = { rebalance: '1' },
  replicas = 4,
): Promise<PolicyLab> {
  const constraint = {
    ...{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule' as const },
    labelSelector: { matchLabels: { app: 'web' } },
  };
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'app:1' }], topologySpreadConstraints: [constraint] },
  };
  const prepare = ({ world }: PolicyLab): void => {
    world.nodeOf = nodeOf;
    for (const name of ['a', 'b'])
      world.api.seed(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { [ZONE]: name } } });
  };
  return PolicyLab.rolledOut(policies, { replicas, spec: { template } }, { controller, prepare });
}

function zonesOf(lab: PolicyLab): Record<string, number> {
  const zones = lab.world.availablePods.map(({ spec }: Pod) => spec.nodeName ?? '');
  return Object.fromEntries(['a', 'b'].map((zone) => [zone, zones.filter((each) => each === zone).length]));
}

/** Until nothing moves any more. */
async function settle(lab: PolicyLab): Promise<void> {
  for (let round = 0; round < 12; round++) await lab.pass(2000);
}

describe('pods that are not spread after a rollout', () => {
  it('move one at a time, a new pod first, until the constraint holds [#105661, #98215, #121284, #122909]', async () => {
    const lab = await inZones((pod) => (pod <= 4 ? 'a' : 'b'));
    let fewest = 4;
    let most = 4;
    for (let round = 0; round < 12; round++) {
      await lab.pass(2000);
      fewest = Math.min(fewest, lab.world.availablePods.length);
      most = Math.max(most, lab.sizes['app:1'] ?? 0);
    }
    expect(zonesOf(lab)).toEqual({ a: 2, b: 2 });
    expect(fewest, 'none goes before its replacement is available').toBe(4);
    expect(most, 'one at a time').toBeLessThanOrEqual(5);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.eventsOf('Rebalanced')).toHaveLength(2);
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('stay where they are without the annotation, and where the constraint holds', async () => {
    const without = await inZones((pod) => (pod <= 4 ? 'a' : 'b'), { history: 'on' });
    await settle(without);
    expect(zonesOf(without)).toEqual({ a: 4, b: 0 });
    const even = await inZones((pod) => (pod % 2 === 0 ? 'a' : 'b'));
    await settle(even);
    expect(even.eventsOf('Rebalancing')).toEqual([]);
  });

  it('are tried once in an hour where new pods come to the same domain', async () => {
    const lab = await inZones(() => 'a');
    await settle(lab);
    expect(lab.eventsOf('Rebalancing', 'RebalanceGivenUp')).toHaveLength(2);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    await lab.pass(61 * MINUTE_MS);
    await settle(lab);
    expect(lab.eventsOf('Rebalancing')).toHaveLength(2);
  });

  it('are given up where the new pod does not become available in time', async () => {
    const lab = await inZones((pod) => (pod <= 4 ? 'a' : 'b'), {});
    lab.world.breaks = () => true;
    await lab.annotate('rebalance', '1');
    await lab.pass(2000);
    expect(lab.sizes).toEqual({ 'app:1': 5 });
    await lab.pass(3 * MINUTE_MS);
    await settle(lab);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(zonesOf(lab)).toEqual({ a: 4, b: 0 });
    expect(lab.eventsOf('RebalanceGivenUp')).toHaveLength(1);
  });

  it('wait for the end of a rollout that begins in the middle of a move', async () => {
    const lab = await inZones((pod) => (pod <= 4 ? 'a' : 'b'), {});
    lab.world.breaks = () => true;
    await lab.annotate('rebalance', '1');
    lab.world.breaks = () => false;
    lab.world.nodeOf = (pod) => (pod % 2 === 0 ? 'a' : 'b');
    await lab.image('app:2');
    await settle(lab);
    expect(Object.keys(lab.sizes)).toEqual(['app:2']);
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it.each([[{ rebalance: '2' }, 'is not 1']])('refuses %j', async (policies, why) => {
    const lab = await inZones(() => 'a', policies, 1);
    expect(lab.condition('RolloutPolicy')).toContain(why);
  });

  it('is not possible where nodes are not watched, which is told', async () => {
    const lab = await PolicyLab.rolledOut({ rebalance: '1' }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toMatch(/^False NodesNotWatched .*--zones/);
  });
});
