import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import type { Absence, VigilStep } from './holder-vigil.js';
import { HolderVigil, decideVigil } from './holder-vigil.js';
import type { Sighting } from './holder-witness.js';
import { compileLeaderElectionOptions } from './leader-election.options.js';

const times = { periodMs: 80, graceMs: 100 };
const again = (waitMs: number, sinceMs?: number): VigilStep => ({
  step: 'look-again',
  absence: sinceMs === undefined ? {} : { sinceMs },
  waitMs,
});

const cases: { name: string; before: Absence; sighting: Sighting; nowMs: number; step: VigilStep }[] = [
  {
    name: 'a holder that is there is looked for again a period later',
    ...{ before: {}, sighting: 'present', nowMs: 1000, step: again(80) },
  },
  {
    name: 'the grace begins with the first look that finds nobody',
    ...{ before: {}, sighting: 'absent', nowMs: 1000, step: again(80, 1000) },
  },
  {
    name: 'the last look is right at the end of the grace',
    ...{ before: { sinceMs: 1000 }, sighting: 'absent', nowMs: 1080, step: again(20, 1000) },
  },
  {
    name: 'a holder that was away for the whole grace is gone',
    ...{ before: { sinceMs: 1000 }, sighting: 'absent', nowMs: 1100 },
    step: { step: 'gone', absence: { sinceMs: 1000 } },
  },
  {
    name: 'a holder that comes back within the grace has all of it again',
    ...{ before: { sinceMs: 1000 }, sighting: 'present', nowMs: 1100, step: again(80) },
  },
  {
    name: 'of what nobody can tell, nothing follows',
    ...{ before: { sinceMs: 1000 }, sighting: 'unknown', nowMs: 1100, step: again(80) },
  },
];

describe('the vigil over the holder of a lease', () => {
  it.each(cases)('$name', ({ before, nowMs, sighting, step }) => {
    expect(decideVigil(before, sighting, nowMs, times)).toEqual(step);
  });

  it('takes a holder for gone at the first look, where there is no grace', () => {
    const step = decideVigil({}, 'absent', 1000, { periodMs: 80, graceMs: 0 });
    expect(step).toEqual({ step: 'gone', absence: { sinceMs: 1000 } });
  });

  /** Looks within ten seconds, as one of so many that look. */
  async function looksOf(lookers: number | undefined): Promise<number> {
    const clock = new FakeClock();
    let looks = 0;
    const witness = {
      place: '',
      ...(lookers === undefined ? {} : { lookers }),
      run: async () => undefined,
      look: async (): Promise<Sighting> => {
        looks += 1;
        return 'present';
      },
      onHidden: () => () => undefined,
    };
    const options = compileLeaderElectionOptions();
    const random = new SeededRandom(1);
    const vigil = new HolderVigil({ witness, clock, random, logger: silentLogger, options });
    vigil.watch({ holderIdentity: 'a', leaderTransitions: 1, witness: 'here' });
    const over = new AbortController();
    const run = vigil.run(() => undefined, over.signal);
    await clock.advance(10_000);
    over.abort();
    await run;
    return looks;
  }

  it('is shared by all who look: together they look as often as one alone would', async () => {
    const alone = await looksOf(undefined);
    expect(alone).toBeGreaterThan(80);
    expect(alone).toBeLessThan(126);
    for (const lookers of [2, 4]) {
      const each = await looksOf(lookers);
      expect(each * lookers).toBeGreaterThan(80);
      expect(each * lookers).toBeLessThan(130);
    }
  });

  it('finds a dead holder within five periods, however many look', async () => {
    expect(await looksOf(1000)).toBeGreaterThan(16);
  });
});
