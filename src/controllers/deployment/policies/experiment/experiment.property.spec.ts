import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Service } from '../../../../runtime/index.js';
import { propertyRuns } from '../../../../testing/property-runs.js';
import { expectNoSideServices } from '../policy-expectations.fixture.js';
import { change, scenario } from '../policy-scenarios.fixture.js';
import { PolicyWorld, rest } from '../policy-world.fixture.js';
import { EXPERIMENT_SIDE, untilOf } from './experiment-sets.js';

const runs = propertyRuns({ gate: 6 });
const STEPS = 'experiment 2m: baseline 1, canary 2, check slo, services; 50%; approve';
/** Longer than an experiment may last: its time, and the ten minutes that its pods have to become available. */
const LONGEST_MINUTES = 13;

describe(`experiments in any circumstances (SEED=${runs.seed})`, () => {
  it('have one ReplicaSet of each version, at their step alone, in no count, and none after their time', async () => {
    const property = fc.asyncProperty(
      scenario,
      fc.array(change, { minLength: 1, maxLength: 8 }),
      async (drawn, changes) => {
        const lab = new PolicyWorld({ ...drawn, traffic: undefined, steps: STEPS });
        const { clock, world } = lab;
        await rest(lab);
        for (const each of [{ image: 'app:2' }, ...changes]) {
          lab.refusing = true;
          await lab.apply(each);
          for (let moves = 0; moves < 20; moves++) await world.move();
          lab.refusing = false;
          await rest(lab);
          const sets = world.experimentSets;
          const sides = sets.map(({ metadata }) => metadata.labels?.[EXPERIMENT_SIDE]);
          expect(new Set(sides).size, 'one of each version').toBe(sides.length);
          for (const set of sets) expect(untilOf(set), 'the end').toBeGreaterThan(clock.now());
          const owners = world.api
            .all<Service>(Service)
            .flatMap((service) => service.metadata.ownerReferences?.map(({ uid }) => uid) ?? []);
          expect(new Set(owners).size, 'one Service of each').toBe(owners.length);
          const uids = sets.map((set) => set.metadata.uid ?? '');
          expect(uids, 'of its versions').toEqual(expect.arrayContaining(owners));
          const { metadata, spec, status } = world.deployment;
          if (sets.length > 0 && !spec.paused) {
            const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
            expect(progressing?.message, 'the step').toContain('(experiment 2m: ');
          }
          expect(metadata.uid).toBeDefined();
        }
        for (let minute = 0; minute <= LONGEST_MINUTES; minute++) {
          await lab.apply({ minutes: 1 });
          await rest(lab);
        }
        expect(world.experimentSets, 'after all').toEqual([]);
        expectNoSideServices(lab);
      },
    );
    await fc.assert(property, runs);
  });
});
