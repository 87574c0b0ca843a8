import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { setImage } from '../../../testing/deployment-builder.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import { PodDisruptionBudget } from '../../../machinery/kubernetes/index.js';
import { readSizeSteps } from './history/size-steps.js';
import type { Scenario, Change } from './policy-scenarios.fixture.js';
import {
  expectHistory,
  expectLabels,
  expectNoSideServices,
  expectPinned,
} from './policy-expectations.fixture.js';
import { scenario, change } from './policy-scenarios.fixture.js';
import { annotate, prometheus, PolicyWorld, imageOf, cpuOf, rest, live } from './policy-world.fixture.js';

const runs = propertyRuns({ gate: 15 });

const NO_SETTINGS = {
  bakeTime: undefined,
  blueGreen: undefined,
  budget: undefined,
  checks: undefined,
  failAfter: undefined,
  podReplacement: undefined,
  resize: undefined,
  autoscaling: undefined,
  config: undefined,
  relabel: undefined,
  surge: undefined,
  traffic: undefined,
  isMarked: false,
  restartOn: undefined,
  steps: undefined,
  zones: undefined,
};

/** The retry put what had been aborted in the place of what was asked for since. */
const RETRY_AFTER_ALL: [Scenario, Change[]] = [
  {
    ...{ seed: -6785981, replicas: 1, maxSurge: 0, maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
  },
  [{ image: 'app:2' }, { ask: 'abort' }, { paused: true }, { ask: 'retry' }, { replicas: 0 }],
];

/** Under the freeze, the version that had been aborted grew in place of the next one. */
const HELD_AFTER_ABORT: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 1, maxSurge: 0, maxUnavailable: 0, refusals: 0, onFailure: 'hold' },
    ...NO_SETTINGS,
  },
  [{ image: 'app:2' }, { freeze: true }, { ask: 'abort' }, { image: 'app:broken' }, { minutes: 1 }],
];

/** 6 and 6 of 12 pods at a step, then 10: in proportion 8 and 5, of which the 8 came first. */
const GROWS_BEFORE_ROOM: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 10, maxSurge: '25%', maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    steps: '50%; wait 1m; 80%',
  },
  [{ replicas: 12 }, { image: 'app:2' }],
];

/** A pod is evicted that its ReplicaSet still counts: what goes beside it could not be spared, had anybody known. */
const EVICTED_UNSEEN: [Scenario, Change[]] = [
  {
    ...{ seed: -1571097354, replicas: 6, maxSurge: 1, maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    restartOn: 'config',
    budget: { maxUnavailable: '30%' },
    steps: '1; approve; 50%; wait 2m',
  },
  [
    { config: '1' },
    { paused: false },
    { replicas: 1 },
    { prometheus: '0' },
    { minutes: 1 },
    { prometheus: '0' },
  ],
];

/** The one pod of the new version is evicted, and its ReplicaSet has not noticed: the Service must not move to it. */
const MOVED_TO_EVICTED: [Scenario, Change[]] = [
  {
    ...{ seed: 1978173779, replicas: 1, maxSurge: 0, maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    blueGreen: 'true',
    budget: { maxUnavailable: 1 },
    restartOn: 'config',
  },
  [
    { config: undefined },
    { ask: 'approve' },
    { image: 'app:2' },
    { freeze: false },
    { freeze: false },
    { freeze: false },
    { paused: false },
  ],
];

/** Two ReplicaSets shrink with a paused Deployment; of the one that is left, a second pass removes what is still too much. */
const SCALED_WHILE_PAUSED: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 1, maxSurge: 1, maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    budget: { minAvailable: 5 },
    steps: '1; approve; 50%; wait 2m',
  },
  [
    { minutes: 1 },
    { image: 'app:broken' },
    { paused: true },
    { replicas: 7 },
    { freeze: false },
    { replicas: 1 },
  ],
];

/** Paused between the pod of a step and the one that goes for it: nothing goes, in particular not what the budget forbids. */
const PAUSED_IN_THE_SURGE: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 2, maxSurge: '25%', maxUnavailable: 1, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    budget: { minAvailable: 5 },
    steps: 'check slo; 1; check slo; 50%; approve; 100%; check slo',
  },
  [{ cpu: '200m' }, { prometheus: '0' }, { paused: true }, { freeze: false }],
];

/** The last old pod goes in the pass that lets the size of the Deployment count again, after another size was held until then. */
const ENDS_WHILE_HELD: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 2, maxSurge: '100%', maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    autoscaling: 'hold',
    steps: '100%; check slo; approve',
    traffic: '100%; check slo; approve',
  },
  [{ replicas: 1 }, { team: 'shop' }, { cpu: '100m' }],
];

/** A version that is given up has begun with another size than the one after it. */
const BEGUN_WITH_OTHER_SIZES: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 1, maxSurge: 0, maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    restartOn: 'config',
    autoscaling: 'floor',
    steps: 'experiment 2m: baseline 1, canary 2, check slo; 50%; approve',
  },
  [{ roomFor: 0 }, { image: 'app:2' }, { replicas: 2 }],
];

/** A version that waits for its first pod is replaced while an autoscaler asks for fewer. */
const REPLACED_BEFORE_ITS_FIRST_POD: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 1, maxSurge: 0, maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    steps: 'approve; 30%; approve',
    autoscaling: 'hold',
  },
  [{ replicas: 3 }, { cpu: '400m' }],
];

/**
 * Weights keep the good version whole, and a version that was only tried has a pod in a later zone: it gives its room to the third one.
 */
const TRIED_IN_A_LATER_ZONE: [Scenario, Change[]] = [
  {
    ...{ seed: 0, replicas: 1, maxSurge: '100%', maxUnavailable: 0, refusals: 0, onFailure: 'none' },
    ...NO_SETTINGS,
    zones: 'one-by-one',
    steps: 'weight 20%; approve; weight 50%; wait 2m',
    traffic: 'weight 20%; approve; weight 50%; wait 2m',
  },
  [{ team: 'shop' }, { lost: 1 }],
];

/** Rule 13. */
function expectNotedSizes(replicaSets: readonly ReplicaSet[]): void {
  for (const { metadata, spec } of replicaSets) {
    const [newest, ...older] = readSizeSteps(metadata.annotations);
    if (!newest) continue;
    expect(newest.to, `rule 13, ${metadata.name}`).toBe(spec.replicas);
    expect(older.map(({ n }) => n)).toEqual(older.map((_, index) => newest.n - index - 1));
  }
}

/** Rule 7. */
async function restarts(lab: PolicyWorld): Promise<void> {
  const uids = () => lab.world.allPods.map(({ metadata }) => metadata.uid);
  const before = new Set(uids());
  await lab.apply({ config: 'last' });
  await rest(lab);
  // The change waits for more of them, and what a Service has left stays for its delay.
  for (let minute = 0; minute < 2; minute++) {
    await lab.apply({ minutes: 1 });
    await rest(lab);
  }
  expect(uids().filter((uid) => before.has(uid))).toEqual([]);
  const settled = uids();
  await lab.apply({ minutes: 1 });
  await rest(lab);
  expect(uids(), 'once').toEqual(settled);
}

describe(`a rollout that looks after itself in any circumstances (SEED=${runs.seed})`, () => {
  it('keeps to its limits and to its policies, and runs what is wanted in the end', async () => {
    const changes = fc.array(change, { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(scenario, changes, async (drawn, drawnChanges) => {
      const lab = await live(drawn, drawnChanges);
      await rest(lab);
      await lab.apply({ freeze: false });
      await lab.apply({ roomFor: undefined });
      for (const { metadata } of lab.world.budgets) await lab.world.api.delete(PodDisruptionBudget, metadata);
      lab.world.change((deployment) => {
        annotate(deployment, 'abort', undefined);
        annotate(deployment, 'steps', undefined);
        if (drawn.blueGreen) annotate(deployment, 'auto-promote', 'true');
        annotate(deployment, 'checks', undefined);
        deployment.spec.paused = false;
        deployment.spec.replicas = drawn.replicas;
        setImage(deployment, 'app:last');
      });
      await rest(lab);
      // With weights, each version is served for a while before the other goes.
      for (let minute = 0; minute < (drawn.traffic === undefined ? 1 : 4); minute++) {
        await lab.apply({ minutes: 1 });
        await rest(lab);
      }
      const running = lab.world.availablePods.map((pod) => pod.spec.containers[0]?.image);
      expect(running).toEqual(Array(drawn.replicas).fill('app:last'));
      expect(lab.world.allPods).toHaveLength(drawn.replicas);
      const asked = lab.world.deployment.spec.template.spec?.containers[0]?.resources?.requests?.['cpu'];
      for (const pod of lab.world.allPods) expect(cpuOf(pod), 'rule 12').toBe(asked);
      expectHistory(lab.world.replicaSets.find((set) => imageOf(set) === 'app:last'));
      expectNotedSizes(lab.world.replicaSets);
      expectPinned(lab);
      expectLabels(lab);
      lab.gateway.expectAtRest();
      expectNoSideServices(lab);
      if (drawn.restartOn ?? drawn.config) await restarts(lab);
      expectPinned(lab);
    });
    await fc.assert(property, {
      ...runs,
      examples: [
        EVICTED_UNSEEN,
        RETRY_AFTER_ALL,
        HELD_AFTER_ABORT,
        GROWS_BEFORE_ROOM,
        SCALED_WHILE_PAUSED,
        MOVED_TO_EVICTED,
        PAUSED_IN_THE_SURGE,
        ENDS_WHILE_HELD,
        TRIED_IN_A_LATER_ZONE,
        BEGUN_WITH_OTHER_SIZES,
        REPLACED_BEFORE_ITS_FIRST_POD,
      ],
    });
  });

  it('is never larger than the steps that it was allowed', async () => {
    const property = fc.asyncProperty(
      scenario,
      fc.array(fc.constantFrom('app:2', 'app:3', 'app:4'), { minLength: 1, maxLength: 4 }),
      async (drawn, images) => {
        const lab = new PolicyWorld({
          ...{ ...drawn, onFailure: 'none', steps: '20%; approve; 50%; approve' },
          ...{ blueGreen: undefined, budget: undefined, traffic: undefined },
        });
        const { random, world } = lab;
        const cap = (percent: number): number => Math.ceil((percent * drawn.replicas) / 100);
        await rest(lab);
        lab.refusing = true;
        for (const image of images) {
          await lab.apply({ image });
          const sizeNow = (): number =>
            world.replicaSets.find((set) => imageOf(set) === image)?.spec.replicas ?? 0;
          for (let moves = 0; moves < 60; moves++) {
            await world.move();
            expect(sizeNow(), 'rule 3, nothing approved').toBeLessThanOrEqual(cap(20));
          }
        }
        lab.refusing = false;
        await rest(lab);
        const last = images.at(-1) ?? '';
        expect(world.replicaSets.find((set) => imageOf(set) === last)?.spec.replicas).toBe(cap(20));
        for (const size of [cap(50), drawn.replicas]) {
          await lab.apply({ ask: 'approve' });
          await rest(lab);
          expect(world.replicaSets.find((set) => imageOf(set) === last)?.spec.replicas).toBe(size);
        }
        expect(random).toBeDefined();
      },
    );
    await fc.assert(property, runs);
  });
});

describe(`a rollout under checks in any circumstances (SEED=${runs.seed})`, () => {
  it('is never larger than the step before a check that has not passed', async () => {
    const said = fc.array(fc.constantFrom('1', 'NaN', undefined), { minLength: 1, maxLength: 5 });
    const property = fc.asyncProperty(scenario, said, async (drawn, answers) => {
      const steps = 'check slo; 20%; check later; 100%';
      const none = { onFailure: 'none', checks: undefined, blueGreen: undefined, budget: undefined } as const;
      const lab = new PolicyWorld({ ...drawn, ...none, traffic: undefined, steps });
      const { world } = lab;
      const sizeOf = (image: string): number =>
        world.replicaSets.find((set) => imageOf(set) === image)?.spec.replicas ?? 0;
      await rest(lab);
      lab.refusing = true;
      await lab.apply({ image: 'app:2' });
      prometheus['later'] = undefined;
      let allowed = 0;
      for (const [query, size] of [
        ['slo', Math.ceil(drawn.replicas / 5)],
        ['later', drawn.replicas],
      ] as const) {
        for (const answer of answers) {
          prometheus[query] = answer;
          for (let moves = 0; moves < 15; moves++) {
            await world.move();
            expect(sizeOf('app:2'), 'rule 10').toBeLessThanOrEqual(allowed);
          }
          await lab.apply({ minutes: 1 });
        }
        prometheus[query] = '0';
        lab.refusing = false;
        await lab.apply({ ask: 'retry' });
        await rest(lab);
        await lab.apply({ minutes: 1 });
        await rest(lab);
        expect(sizeOf('app:2')).toBe(size);
        lab.refusing = true;
        allowed = size;
      }
    });
    await fc.assert(property, runs);
  });
});
