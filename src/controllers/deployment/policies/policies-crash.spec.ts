import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/api-status-error.js';
import { readCheckResults } from './checks/check-results.js';
import { BROKEN_IMAGE, refusal } from '../../../testing/rollout-world.js';
import type { Scenario } from './policy-scenarios.fixture.js';
import {
  expectHistory,
  expectLabels,
  expectNoSideServices,
  expectPinned,
} from './policy-expectations.fixture.js';
import { PolicyWorld, imageOf, cpuOf, rest } from './policy-world.fixture.js';

/** A process that dies before its write of this number, and all that comes after is done by others. */
async function dyingAt(
  effect: number,
  settings: Partial<Scenario>,
  act: (lab: PolicyWorld, go: () => Promise<void>) => Promise<void>,
): Promise<{ lab: PolicyWorld; died: boolean }> {
  const lab = new PolicyWorld({ ...PLAIN, ...settings });
  await rest(lab);
  const { world } = lab;
  let [left, died] = [effect, false];
  const update = world.onEffect;
  world.onEffect = () => {
    update();
    if (--left === 0) {
      died = true;
      throw refusal(500);
    }
  };
  const go = async (): Promise<void> => {
    for (let before = -1; before !== world.api.changes;) {
      before = world.api.changes;
      await world.sync().catch((error: unknown) => {
        if (!(error instanceof ApiStatusError)) throw error;
        before = -1;
      });
      await world.settle();
    }
  };
  await act(lab, go);
  return { lab, died };
}

const PLAIN: Scenario = {
  ...{ seed: 1, replicas: 6, maxSurge: 1, maxUnavailable: 1, refusals: 0 },
  ...{ onFailure: 'rollback', failAfter: '1m', bakeTime: undefined, steps: undefined, checks: undefined },
  ...{
    restartOn: undefined,
    blueGreen: undefined,
    budget: undefined,
    podReplacement: undefined,
    zones: undefined,
    resize: undefined,
    autoscaling: undefined,
    surge: undefined,
    traffic: undefined,
    config: undefined,
    relabel: undefined,
    isMarked: false,
  },
};

describe('a process that dies at any of its writes', () => {
  const cases: readonly {
    name: string;
    settings: Partial<Scenario>;
    act: (lab: PolicyWorld, go: () => Promise<void>) => Promise<void>;
    image: string;
    asks: string;
  }[] = [
    {
      name: 'is gone on from in the middle of a rollback',
      settings: {},
      act: async (lab, go) => {
        await lab.apply({ image: BROKEN_IMAGE });
        await go();
        await lab.apply({ minutes: 1 });
        await go();
      },
      image: 'app:1',
      asks: 'app:1',
    },
    {
      name: 'is gone on from where the failed template is held, and tried again, and held again',
      settings: { onFailure: 'hold' },
      act: async (lab, go) => {
        await lab.apply({ image: BROKEN_IMAGE });
        await go();
        await lab.apply({ minutes: 2 });
        await go();
        await lab.apply({ ask: 'retry' });
        await go();
        await lab.apply({ minutes: 2 });
        await go();
      },
      image: 'app:1',
      asks: BROKEN_IMAGE,
    },
    {
      name: 'is gone on from in the middle of the steps',
      settings: { steps: '1; approve; 50%; wait 2m', onFailure: 'none' },
      act: async (lab, go) => {
        await lab.apply({ image: 'app:2' });
        await go();
        await lab.apply({ ask: 'approve' });
        await go();
        await lab.apply({ minutes: 2 });
        await go();
      },
      image: 'app:2',
      asks: 'app:2',
    },
    {
      name: 'is gone on from in the middle of checks that pass',
      settings: { steps: 'check slo; 1; check slo; 100%; check slo', checks: 'slo', onFailure: 'rollback' },
      act: async (lab, go) => {
        await lab.apply({ image: 'app:2' });
        await go();
        await lab.apply({ minutes: 1 });
        await go();
      },
      image: 'app:2',
      asks: 'app:2',
    },
    {
      name: 'is gone on from in the middle of a check that is unknown, then fails, after the last size',
      settings: { steps: '100%; check slo', onFailure: 'rollback' },
      act: async (lab, go) => {
        await lab.apply({ prometheus: undefined });
        await lab.apply({ image: 'app:2' });
        await go();
        await lab.apply({ prometheus: '1' });
        await lab.apply({ minutes: 1 });
        await go();
      },
      image: 'app:1',
      asks: 'app:1',
    },
    {
      name: 'is gone on from in the middle of an experiment with Services, and of its end',
      settings: { steps: 'experiment 2m: baseline 1, canary 1, services; 100%', onFailure: 'none' },
      act: async (lab, go) => {
        await lab.apply({ image: 'app:2' });
        await go();
        await lab.apply({ minutes: 1 });
        await go();
        await lab.apply({ minutes: 2 });
        await go();
        expectNoSideServices(lab);
      },
      image: 'app:2',
      asks: 'app:2',
    },
    {
      name: 'is gone on from in the middle of an abort',
      settings: { steps: '50%; approve', onFailure: 'none' },
      act: async (lab, go) => {
        await lab.apply({ image: 'app:2' });
        await go();
        await lab.apply({ ask: 'abort' });
        await go();
      },
      image: 'app:1',
      asks: 'app:1',
    },
    {
      name: 'is gone on from where it takes from a disruption budget',
      settings: { budget: { minAvailable: 5 }, onFailure: 'none', maxSurge: 0, maxUnavailable: '50%' },
      act: async (lab, go) => {
        await lab.apply({ image: 'app:2' });
        await go();
        // The rollout recovers from what a process took that died over it.
        await lab.apply({ minutes: 3 });
        await go();
      },
      image: 'app:2',
      asks: 'app:2',
    },
    {
      name: 'is gone on from in the middle of a restart on its configuration, and of the failure of one',
      settings: { restartOn: 'config' },
      act: async (lab, go) => {
        await lab.apply({ config: '1' });
        await go();
        await lab.apply({ minutes: 1 });
        await go();
        lab.world.breaks = () => true;
        await lab.apply({ config: '2' });
        await go();
        await lab.apply({ minutes: 1 });
        await go();
        await lab.apply({ minutes: 2 });
        await go();
        lab.world.breaks = () => false;
        await lab.apply({ minutes: 1 });
        await go();
      },
      image: 'app:1',
      asks: 'app:1',
    },
    {
      name: 'is gone on from in the middle of a relabel in place, and of the way back',
      settings: { relabel: 'in-place', onFailure: 'none' },
      act: async (lab, go) => {
        const uids = (): unknown[] => lab.world.allPods.map(({ metadata }) => metadata.uid);
        const before = uids();
        for (const team of ['shop', 'sales', undefined]) {
          await lab.apply({ team });
          await go();
          expectLabels(lab);
        }
        expect(uids()).toEqual(before);
      },
      image: 'app:1',
      asks: 'app:1',
    },
    {
      name: 'is gone on from in the middle of copies of its configuration, and of the way back',
      settings: { config: 'pinned', onFailure: 'none' },
      act: async (lab, go) => {
        for (const config of ['1', '2', '1']) {
          await lab.apply({ config });
          await go();
          await lab.apply({ minutes: 1 });
          await go();
          expectPinned(lab);
        }
      },
      image: 'app:1',
      asks: 'app:1',
    },
    {
      name: 'is gone on from in the middle of a resize in place, and of the way back',
      settings: { resize: 'in-place', onFailure: 'none' },
      act: async (lab, go) => {
        const uids = (): unknown[] => lab.world.allPods.map(({ metadata }) => metadata.uid);
        const before = uids();
        for (const cpu of ['200m', '100m'] as const) {
          await lab.apply({ cpu });
          await go();
          await lab.apply({ minutes: 1 });
          await go();
          expect(lab.world.allPods.map(cpuOf)).toEqual(Array(6).fill(cpu));
        }
        expect(uids()).toEqual(before);
      },
      image: 'app:1',
      asks: 'app:1',
    },
    {
      name: 'is gone on from in the middle of a move between two versions, and of the way back',
      settings: { blueGreen: 'false', onFailure: 'none' },
      act: async (lab, go) => {
        await lab.apply({ image: 'app:2' });
        await go();
        await lab.apply({ ask: 'approve' });
        await go();
        await lab.apply({ ask: 'abort' });
        await go();
        await lab.apply({ image: 'app:3' });
        await go();
        await lab.apply({ ask: 'approve' });
        await go();
        await lab.apply({ minutes: 1 });
        await go();
      },
      image: 'app:3',
      asks: 'app:3',
    },
  ];

  it('counts no measurement twice', async () => {
    for (let effect = 1; ; effect++) {
      const { died, lab } = await dyingAt(
        effect,
        { steps: '1; check slo', onFailure: 'none' },
        async (at, go) => {
          await at.apply({ prometheus: '1' });
          await at.apply({ image: 'app:2' });
          await go();
        },
      );
      const results = lab.world.replicaSets.flatMap(readCheckResults);
      expect(results, `write ${effect}`).toMatchObject([
        { check: 'slo', step: 2, state: 'failed', taken: 1 },
      ]);
      if (!died) break;
    }
  });

  it.each(cases)('$name', async ({ act, asks, image, settings }) => {
    let effects = 0;
    for (let effect = 1; ; effect++) {
      const { died, lab } = await dyingAt(effect, settings, act);
      const { deployment, replicaSets } = lab.world;
      const active = replicaSets.filter(({ spec }) => (spec.replicas ?? 1) > 0);
      expect(
        active.map((set) => [imageOf(set), set.spec.replicas]),
        `write ${effect}`,
      ).toEqual([[image, 6]]);
      expect(deployment.spec.template.spec?.containers[0]?.image, `write ${effect}`).toBe(asks);
      expectHistory(active[0]);
      if (!died) break;
      effects++;
    }
    expect(effects).toBeGreaterThan(3);
  });
});
