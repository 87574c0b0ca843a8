import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom, toRfc3339 } from '../../../../machinery/clock/index.js';
import { EVICTION_ASKED, Pod, isTerminating } from '../../../../machinery/kubernetes/index.js';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { aDeployment, setImage } from '../../../../testing/deployment-builder.js';
import { JudgedRollout } from '../../../../testing/judged-rollout.js';
import { MINUTE_MS, P, PolicyLab } from '../../../../testing/policy-lab.js';
import { propertyRuns } from '../../../../testing/property-runs.js';
import type { RolloutWorld } from '../../../../testing/rollout-world.js';
import { BROKEN_IMAGE, WORLD_NOW_MS } from '../../../../testing/rollout-world.js';
import { RESPONDER_OF_OWNER, podOfReplicaSet } from '../../../shared/index.js';
import { createDeploymentController } from '../../definition.js';

const SURGE = { 'on-eviction': 'surge' };
const ONE: DeploymentShape = { replicas: 1, strategy: rolling('25%', '25%') };

function rolling(maxSurge: number | string, maxUnavailable: number | string): DeploymentShape['strategy'] {
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
}

/** As the eviction subresource marks a pod, or a drainer beside a real cluster. */
function ask(world: RolloutWorld, pod: Pod | undefined, value = toRfc3339(WORLD_NOW_MS)): void {
  if (!pod) throw new Error('there is no such pod');
  const annotations = { ...pod.metadata.annotations, [EVICTION_ASKED]: value };
  world.api.seed(Pod, { ...pod, metadata: { ...pod.metadata, annotations } });
}

const namesOf = ({ availablePods }: RolloutWorld): string[] =>
  availablePods.map(({ metadata }) => metadata.name).sort();

describe('surge before eviction', () => {
  it('lets the only pod go when another one is available in its place', async () => {
    const lab = await PolicyLab.rolledOut(SURGE, ONE);
    const { world } = lab;
    const [pod] = world.availablePods;
    ask(world, pod);
    await world.sync();
    expect(lab.sizes).toEqual({ 'app:1': 2 });
    for (const set of world.replicaSets) await world.syncReplicaSet(set);
    await world.sync();
    expect(namesOf(world), 'the new pod is not available yet').toEqual([pod?.metadata.name]);
    await lab.rest();
    // The cache shows one more pod than the status until its ReplicaSet is looked at again.
    await lab.pass(1000);
    expect(lab.sizes).toEqual({ 'app:1': 1 });
    expect(namesOf(world)).toHaveLength(1);
    expect(namesOf(world)).not.toContain(pod?.metadata.name);
    expect(lab.eventsOf('EvictionSurge', 'EvictionReplaced')).toEqual([
      `Normal EvictionSurge Pod ${pod?.metadata.name} is to be evicted: starting a pod first`,
      `Normal EvictionReplaced Evicting ${pod?.metadata.name}: as many pods are available in its place`,
    ]);
    expect(lab.condition(), 'it is still the same rollout').toMatch(/^True NewReplicaSetAvailable/);
  });

  it('takes so many at once as maxSurge allows, and never has fewer available', async () => {
    const lab = await PolicyLab.rolledOut(SURGE, { replicas: 4, strategy: rolling(2, 2) });
    const { world } = lab;
    const asked = world.availablePods.slice(0, 3);
    for (const pod of asked) ask(world, pod);
    const sizes = new Set<number>();
    for (let round = 0; round < 20; round++) {
      await world.sync();
      sizes.add(world.replicaSets[0]?.spec.replicas ?? 0);
      expect(world.availablePods.length).toBeGreaterThanOrEqual(4);
      await world.settle();
      expect(world.availablePods.length).toBeGreaterThanOrEqual(4);
    }
    expect([...sizes]).toEqual([6, 4, 5]);
    for (const { metadata } of asked) expect(namesOf(world)).not.toContain(metadata.name);
  });

  it('keeps the pod while the one in its place does not become available', async () => {
    const lab = await PolicyLab.rolledOut(SURGE, ONE);
    const { world } = lab;
    world.breaks = () => true;
    const [pod] = world.availablePods;
    ask(world, pod, 'until it is gone');
    await lab.rest();
    await lab.pass(MINUTE_MS);
    expect([lab.sizes, namesOf(world)]).toEqual([{ 'app:1': 2 }, [pod?.metadata.name]]);
    expect(world.requeueAfterMs, 'nothing has to be looked at every second').toBeUndefined();
  });

  it('takes the room back when nothing asks any more', async () => {
    const lab = await PolicyLab.rolledOut(SURGE, ONE);
    const { world } = lab;
    world.breaks = () => true;
    ask(world, world.availablePods[0]);
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 2 });
    expect(world.requeueAfterMs).toBe(5 * MINUTE_MS);
    await lab.pass(5 * MINUTE_MS);
    expect([lab.sizes, namesOf(world).length]).toEqual([{ 'app:1': 1 }, 1]);
  });

  it('lets a pod that is not available go as soon as others are', async () => {
    const lab = await PolicyLab.rolledOut(SURGE, { replicas: 2, strategy: rolling(1, 0) });
    const { world } = lab;
    const [pod] = world.availablePods;
    if (!pod) throw new Error('there is no pod');
    world.api.seed(Pod, { ...pod, status: { phase: 'Running' } });
    world.breaks = () => true;
    for (const set of world.replicaSets) await world.syncReplicaSet(set);
    ask(
      world,
      world.allPods.find(({ metadata }) => metadata.name === pod.metadata.name),
    );
    world.breaks = () => false;
    await world.sync();
    for (const set of world.replicaSets) await world.syncReplicaSet(set);
    for (const each of world.allPods) if (each.metadata.name !== pod.metadata.name) world.startPod(each);
    for (const set of world.replicaSets) await world.syncReplicaSet(set);
    await world.sync();
    for (const set of world.replicaSets) await world.syncReplicaSet(set);
    expect(world.allPods.filter(isTerminating).map(({ metadata }) => metadata.name)).toEqual([
      pod.metadata.name,
    ]);
    expect(namesOf(world)).toHaveLength(2);
  });

  it('has new pods name its responder where evictions by request are responded to, and starts none for that', async () => {
    const responding = { controller: createDeploymentController({ evictionRequests: true }) };
    const lab = await PolicyLab.rolledOut({}, ONE, responding);
    const [pod] = lab.world.availablePods;
    await lab.annotate('on-eviction', 'surge');
    expect(lab.replicaSet('app:1').metadata.annotations?.[RESPONDER_OF_OWNER]).toBe('surge');
    expect(namesOf(lab.world)).toEqual([pod?.metadata.name]);
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    await lab.world.sync();
    expect(podOfReplicaSet(lab.replicaSet('app:2'), 'web-x').spec, 'from its creation on').toHaveProperty(
      'evictionResponders',
      [{ name: 'rollkeeper.dev/deployment', priority: 10_000 }],
    );
    await lab.annotate('on-eviction', undefined);
    expect(lab.replicaSet('app:2').metadata.annotations?.[RESPONDER_OF_OWNER]).toBeUndefined();
  });

  it('has pods name no responder where nothing responds', async () => {
    const lab = await PolicyLab.rolledOut(SURGE, ONE);
    expect(lab.replicaSet('app:1').metadata.annotations?.[RESPONDER_OF_OWNER]).toBeUndefined();
    expect(lab.world.availablePods[0]?.spec).not.toHaveProperty('evictionResponders');
  });

  it('does nothing where no policy asks for it', async () => {
    const lab = await PolicyLab.rolledOut({ history: 'on' }, ONE);
    ask(lab.world, lab.world.availablePods[0]);
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 1 });
    expect(lab.eventsOf('EvictionSurge')).toEqual([]);
  });

  it.each([
    { strategy: { type: 'Recreate' } as const, why: 'needs spec.strategy.type RollingUpdate' },
    { strategy: rolling(0, 1), why: 'needs spec.strategy.rollingUpdate.maxSurge above 0' },
    { strategy: rolling('0%', 1), why: 'needs spec.strategy.rollingUpdate.maxSurge above 0' },
  ])('says that it $why', async ({ strategy, why }) => {
    const lab = await PolicyLab.rolledOut(SURGE, { replicas: 1, strategy });
    expect(lab.condition('RolloutPolicy')).toContain(`on-eviction: "surge" ${why}`);
  });

  it('leaves a rollout that is under way alone', async () => {
    const lab = await PolicyLab.rolledOut(SURGE, { replicas: 2, strategy: rolling(1, 0) });
    await lab.image(BROKEN_IMAGE);
    ask(lab.world, lab.world.availablePods[0], '');
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 2, [BROKEN_IMAGE]: 1 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 2 });
  });

  it('holds in any order of events: limits are kept, no pod goes without another, and all that are asked to go do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        async (seed, replicas, surge) => {
          const random = new SeededRandom(seed);
          const annotations = { [`${P}on-eviction`]: 'surge' };
          const strategy = rolling(surge, 0);
          const world = new JudgedRollout({
            random,
            deployment: aDeployment({ annotations, replicas, strategy }),
          });
          const rest = async (): Promise<void> => {
            for (let before = -1; before !== world.api.changes;) {
              before = world.api.changes;
              await world.sync();
              await world.settle();
            }
          };
          await rest();
          for (let move = 0; move < 120; move++) {
            const draw = random.next();
            const [pod] = world.availablePods.filter(() => random.next() < 0.4);
            if (draw < 0.1 && pod) ask(world, pod, 'now');
            else if (draw < 0.12) world.change((deployment) => setImage(deployment, `app:${move}`));
            else await world.move();
            expect(world.availablePods.length, `seed ${seed}`).toBeGreaterThanOrEqual(replicas);
          }
          await rest();
          expect(world.availablePods).toHaveLength(replicas);
          const left = world.availablePods.filter(
            ({ metadata }) => metadata.annotations?.[EVICTION_ASKED] !== undefined,
          );
          expect(left, `seed ${seed}`).toEqual([]);
        },
      ),
      propertyRuns({ gate: 60 }),
    );
  });
});
