import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../machinery/clock/index.js';
import type { ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { Node, Pod } from '../../../../machinery/kubernetes/index.js';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { aDeployment, setImage } from '../../../../testing/deployment-builder.js';
import { JudgedRollout } from '../../../../testing/judged-rollout.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { propertyRuns } from '../../../../testing/property-runs.js';
import type { RolloutWorld } from '../../../../testing/rollout-world.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';
import { createDeploymentController } from '../../definition.js';

const WATCHING = createDeploymentController({ zones: true });
const LABEL = 'topology.kubernetes.io/zone';
const ONE_BY_ONE = { zones: 'one-by-one' };
const SIX: DeploymentShape = {
  replicas: 6,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
};

/** Pods are spread over the zones `a`, `b` and `c` in turn. */
function spread(world: RolloutWorld, label = LABEL): void {
  for (const zone of ['a', 'b', 'c']) {
    const metadata = { name: `node-${zone}`, uid: `uid-of-node-${zone}`, labels: { [label]: zone } };
    world.api.seed(Node, { apiVersion: 'v1', kind: 'Node', metadata });
  }
  world.zoneOf = (node) => node.replace('node-', '');
  world.nodeOf = (pod) => `node-${'abc'[pod % 3]}`;
}

function zoned(
  policies: Record<string, string> = ONE_BY_ONE,
  shape = SIX,
  label = LABEL,
): Promise<PolicyLab> {
  const prepare = ({ world }: PolicyLab): void => spread(world, label);
  return PolicyLab.rolledOut(policies, shape, { controller: WATCHING, prepare });
}

/** The zones of the ready pods of an image, sorted. */
function zonesOf(world: RolloutWorld, image: string): string {
  const pods = world.availablePods.filter((pod: Pod) => pod.spec.containers[0]?.image === image);
  return pods
    .map(({ spec }) => world.zoneOf(spec.nodeName ?? ''))
    .sort()
    .join('');
}

/** One pass, and what the ReplicaSets and kubelets do with it. Returns the zones of the old pods. */
async function step({ world }: PolicyLab): Promise<string> {
  await world.sync();
  await world.settle();
  return zonesOf(world, 'app:1');
}

describe('a rollout zone by zone', () => {
  it('takes the old pods of one zone before those of the next', async () => {
    const lab = await zoned();
    expect(zonesOf(lab.world, 'app:1')).toBe('aabbcc');
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    const seen = new Set<string>();
    for (let round = 0; round < 20; round++) seen.add(await step(lab));
    expect([...seen]).toEqual(['abbcc', 'bbcc', 'bcc', 'cc', 'c', '']);
    expect(lab.eventsOf('RolloutZone').map((event) => event.replace(/web-\w+/, 'web'))).toEqual(
      ['a', 'b', 'c'].map((zone) => `Normal RolloutZone Rollout of web: old pods in zone ${zone} go now`),
    );
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('leaves the next zone alone until new pods are available in place of those that have gone', async () => {
    const lab = await zoned(ONE_BY_ONE, {
      ...SIX,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 4 } },
    });
    await lab.image(BROKEN_IMAGE);
    expect(zonesOf(lab.world, 'app:1'), 'the limits would let two more go').toBe('bbcc');
    expect(lab.world.requeueAfterMs, 'the progress deadline runs').toBeGreaterThan(0);
    lab.world.breaks = () => false;
    await lab.rest();
    expect(lab.sizes).toEqual({ [BROKEN_IMAGE]: 6 });
  });

  it('removes old pods that are not ready first, in any zone', async () => {
    const lab = await zoned();
    const [pod] = lab.world.availablePods.filter(({ spec }) => spec.nodeName === 'node-c');
    const { api } = lab.world;
    if (pod) api.seed(Pod, { ...pod, status: {} });
    for (const set of lab.world.replicaSets) await lab.world.syncReplicaSet(set);
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    await lab.world.sync();
    for (const set of lab.world.replicaSets) await lab.world.syncReplicaSet(set);
    expect(zonesOf(lab.world, 'app:1')).toBe('aabbc');
  });

  it('takes any label of nodes, and nodes without it first', async () => {
    const policies = { ...ONE_BY_ONE, 'zone-label': 'example.com/rack' };
    const lab = await zoned(policies, SIX, 'example.com/rack');
    const metadata = { name: 'node-c', uid: 'uid-of-node-c' };
    lab.world.api.seed(Node, { apiVersion: 'v1', kind: 'Node', metadata });
    lab.world.zoneOf = (node) => (node === 'node-c' ? '' : node.replace('node-', ''));
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    const seen = new Set<string>();
    for (let round = 0; round < 20; round++) seen.add(await step(lab));
    expect([...seen]).toEqual(['aabb', 'abb', 'bb', 'b', '']);
    expect(lab.eventsOf('RolloutZone')[0]).toContain('no zone (nodes without example.com/rack)');
  });

  it('follows a scale in the middle, and holds its steps', async () => {
    const lab = await zoned({ ...ONE_BY_ONE, steps: '50%; approve' });
    await lab.image('app:2');
    expect(zonesOf(lab.world, 'app:1')).toBe('bcc');
    await lab.scale(3);
    await lab.annotate('approve', 'alice');
    expect(lab.sizes).toEqual({ 'app:2': 3 });
  });

  it('removes a version that was only tried from any zone, where a step holds the one before', async () => {
    const lab = await zoned({ ...ONE_BY_ONE, steps: '1; approve' }, { ...SIX, replicas: 3 });
    await lab.image('app:2');
    expect(zonesOf(lab.world, 'app:2')).toHaveLength(1);
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:3': 1 });
  });

  it('says so where nodes are not watched, and rolls out in any order', async () => {
    const lab = await PolicyLab.rolledOut(ONE_BY_ONE, SIX);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 6 });
    expect(lab.condition('RolloutPolicy')).toBe(
      'False NodesNotWatched nodes are not watched: start the controller with --zones',
    );
  });

  const WRONG: readonly (Readonly<Record<string, string>> & { readonly says: string })[] = [
    { zones: 'all', says: '"all" is not one-by-one' },
    { 'zone-label': 'rack', says: 'needs rollkeeper.dev/zones' },
    { zones: 'one-by-one', 'zone-label': 'a b', says: '"a b" is not the name of a label' },
  ];

  it.each(WRONG)('is not begun where $says', async ({ says, ...policies }) => {
    const lab = await zoned(policies);
    expect(lab.condition('RolloutPolicy')).toContain(says);
  });
});

const runs = propertyRuns({ gate: 20 });

describe(`old pods of a rollout zone by zone (SEED=${runs.seed})`, () => {
  it('go in the order of their zones, within the limits, and the rollout ends', async () => {
    const scenario = fc.record({
      seed: fc.integer(),
      replicas: fc.integer({ min: 1, max: 9 }),
      maxSurge: fc.constantFrom(0, 1, '50%', '100%'),
      maxUnavailable: fc.constantFrom(0, 1, '50%', '100%'),
    });
    const property = fc.asyncProperty(scenario, async ({ maxSurge, maxUnavailable, replicas, seed }) => {
      const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } };
      const annotations = { [`${P}zones`]: 'one-by-one' };
      const random = new SeededRandom(seed);
      const world = new JudgedRollout({
        deployment: aDeployment({ replicas, strategy, annotations }),
        random,
        controller: WATCHING,
      });
      spread(world);
      for (let round = 0; round < 10; round++) {
        await world.sync();
        await world.settle();
      }
      world.change((deployment) => setImage(deployment, 'app:2'));
      let before = zonesOf(world, 'app:1');
      let last: string | undefined;
      for (let moves = 0; moves < 400; moves++) {
        await world.move();
        const now = zonesOf(world, 'app:1');
        expect(before.endsWith(now), `${before} to ${now}: the first zone goes first`).toBe(true);
        const gone = [...before.slice(0, before.length - now.length)];
        expect(new Set(gone).size, `${before} to ${now}: of one zone at a time`).toBeLessThanOrEqual(1);
        const [zone] = gone;
        if (zone !== undefined && zone !== last)
          expect(before.length + zonesOf(world, 'app:2').length).toBeGreaterThanOrEqual(replicas);
        last = zone ?? last;
        before = now;
      }
      for (let round = 0; round < 60; round++) {
        await world.sync();
        await world.settle();
      }
      const active = world.replicaSets.filter(({ spec }: ReplicaSet) => (spec.replicas ?? 1) > 0);
      expect(active.map(({ spec }) => [spec.template?.spec?.containers[0]?.image, spec.replicas])).toEqual([
        ['app:2', replicas],
      ]);
    });
    await fc.assert(property, runs);
  });
});
