import { describe, expect, it, vi } from 'vitest';
import type { Plan } from './plan.js';
import { planOf } from './plan.js';
import { shrink, testOf } from './shrink.js';
import type { SimulateOptions, SimulationResult } from './simulate.js';

const PLAN = planOf(5, 60_000);
const [NEEDED_FAULT, NEEDED_ACT] = [PLAN.faults[7]!, PLAN.acts[11]!];

const needs = ({ acts, faults }: Plan): boolean => faults.includes(NEEDED_FAULT) && acts.includes(NEEDED_ACT);

/** Fails where a plan has what the failure needs, in the middle of its time. */
function resultOf({ plan = PLAN, seed }: SimulateOptions, isFailed = needs): SimulationResult {
  const violation = { check: 'limits', subject: 'web', problem: 'too many', atMs: 50_000, step: 10 };
  return {
    ...{
      seed,
      plan,
      traceHash: '',
      faults: {},
      faultCount: 0,
      checks: 1,
      steps: 10,
      simulatedMs: 1,
      trace: [],
    },
    ...{ users: { acknowledged: 0, refused: 0, unknown: 0 }, violations: isFailed(plan) ? [violation] : [] },
  };
}

const run = (options: SimulateOptions): Promise<SimulationResult> => Promise.resolve(resultOf(options));

describe('a failing plan is shrunk', () => {
  it('to the events that the failure needs, and to its time', async () => {
    const { isMinimal, result, runs } = await shrink({ seed: 5 }, resultOf({ seed: 5 }), { run });
    expect(result.plan).toMatchObject({ faults: [NEEDED_FAULT], acts: [NEEDED_ACT], troubledMs: 50_001 });
    expect(isMinimal).toBe(true);
    expect(runs).toBeLessThan(120);
  });

  it('until single events that have become superfluous are gone as well', async () => {
    const [first, second] = PLAN.faults;
    // The second is needed as long as the first is there.
    const isFailed = (plan: Plan): boolean =>
      needs(plan) && (plan.faults.includes(second!) || !plan.faults.includes(first!));
    const { result } = await shrink({ seed: 5 }, resultOf({ seed: 5 }), {
      run: (options) => Promise.resolve(resultOf(options, isFailed)),
    });
    expect(result.plan.faults).toEqual([NEEDED_FAULT]);
  });

  it('within a number of runs, and says that it is not done', async () => {
    const spied = vi.fn(run);
    const { isMinimal, runs } = await shrink({ seed: 5 }, resultOf({ seed: 5 }), { run: spied, mostRuns: 4 });
    expect([isMinimal, runs]).toEqual([false, 4]);
    expect(spied).toHaveBeenCalledTimes(4);
  });

  it('not at all where it does not fail', async () => {
    const holds = { ...resultOf({ seed: 5 }), violations: [] };
    expect(await shrink({ seed: 5 }, holds, { run })).toEqual({ result: holds, runs: 0, isMinimal: true });
  });
});

describe('the test of a failure', () => {
  it('runs its plan, and names the check', () => {
    const text = testOf(resultOf({ seed: 5, plan: { ...PLAN, faults: [NEEDED_FAULT], acts: [NEEDED_ACT] } }));
    expect(text).toContain(`holds under seed 5: limits`);
    expect(text).toContain(JSON.stringify(NEEDED_FAULT.dice[0]));
  });
});
