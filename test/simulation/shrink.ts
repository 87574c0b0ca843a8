import type { Plan } from './plan.js';
import type { SimulateOptions, SimulationResult } from './simulate.js';
import { simulate } from './simulate.js';

export interface ShrinkOptions {
  /** How many plans are tried at most. @default 300 */
  readonly mostRuns?: number;
  /** Called with each smaller plan that fails as well. @default nothing */
  readonly onStep?: (plan: Plan) => void;
  /** Runs a plan. @default {@link simulate} */
  readonly run?: (options: SimulateOptions) => Promise<SimulationResult>;
}

/** The end of a search for a smaller plan. */
export interface Shrunk {
  /** The result of the smallest plan that was found. */
  readonly result: SimulationResult;
  /** How many plans were tried. */
  readonly runs: number;
  /** No single event of it can be left out: otherwise `mostRuns` was reached. */
  readonly isMinimal: boolean;
}

const MOST_RUNS = 300;

/**
 * Leaves out what a failure does not need: what comes after it, whole kinds of faults, whole Deployments, then parts of the
 * rest, of half its size down to single events (delta debugging). A plan fails in the same way if the same check is broken.
 */
export async function shrink(
  options: SimulateOptions,
  failed: SimulationResult,
  { mostRuns = MOST_RUNS, onStep = () => undefined, run = simulate }: ShrinkOptions = {},
): Promise<Shrunk> {
  const [first] = failed.violations;
  if (!first) return { result: failed, runs: 0, isMinimal: true };
  let smallest = failed;
  let runs = 0;
  const tryWithout = async (plan: Plan): Promise<boolean> => {
    if (isNoSmaller(plan, smallest.plan) || runs >= mostRuns) return false;
    runs += 1;
    const result = await run({ ...options, plan });
    if (!result.violations.some(({ check }) => check === first.check)) return false;
    smallest = result;
    onStep(plan);
    return true;
  };
  await tryWithout(upTo(failed.plan, first.atMs));
  for (const kind of new Set(smallest.plan.faults.map(({ fault }) => fault)))
    await tryWithout(withFaults(smallest.plan, ({ fault }) => fault !== kind));
  for (const name of new Set(smallest.plan.acts.map((act) => act.name)))
    await tryWithout(withActs(smallest.plan, (act) => act.name !== name));
  let isMinimal = false;
  for (let size = Math.ceil(sizeOf(smallest.plan) / 2); !isMinimal && runs < mostRuns;) {
    const before = sizeOf(smallest.plan);
    for (let from = 0; from < sizeOf(smallest.plan);)
      if (!(await tryWithout(withoutPart(smallest.plan, from, size)))) from += size;
    // A single event may become superfluous once another has gone.
    isMinimal = size <= 1 && sizeOf(smallest.plan) === before && runs < mostRuns;
    size = Math.max(Math.floor(size / 2), 1);
  }
  return { result: smallest, runs, isMinimal };
}

/** The source of a test that reproduces a failure. */
export function testOf({ plan, seed, violations: [violation] }: SimulationResult): string {
  return `import { expect, it } from 'vitest';
import { simulate } from './simulate.js';

it('holds under seed ${seed}: ${violation?.check ?? ''}', async () => {
  const plan = ${JSON.stringify(plan, undefined, 2)} as const;
  const { violations } = await simulate({ seed: ${seed}, plan });
  expect(violations).toEqual([]);
});
`;
}

function sizeOf({ acts, faults }: Plan): number {
  return acts.length + faults.length;
}

/** Ties are decided by how long there are faults. */
function isNoSmaller(plan: Plan, than: Plan): boolean {
  const [size, thanSize] = [sizeOf(plan), sizeOf(than)];
  return size > thanSize || (size === thanSize && plan.troubledMs >= than.troubledMs);
}

function upTo(plan: Plan, atMs: number): Plan {
  const cut = withActs(
    withFaults(plan, (fault) => fault.atMs <= atMs),
    (act) => act.atMs <= atMs,
  );
  return { ...cut, troubledMs: Math.min(plan.troubledMs, Math.ceil(atMs) + 1) };
}

function withFaults(plan: Plan, keep: (fault: Plan['faults'][number]) => boolean): Plan {
  return { ...plan, faults: plan.faults.filter(keep) };
}

function withActs(plan: Plan, keep: (act: Plan['acts'][number]) => boolean): Plan {
  return { ...plan, acts: plan.acts.filter(keep) };
}

/** Faults first, then acts. */
function withoutPart({ acts, faults, ...rest }: Plan, from: number, size: number): Plan {
  const isLeft = (index: number): boolean => index < from || index >= from + size;
  return {
    ...rest,
    faults: faults.filter((_, index) => isLeft(index)),
    acts: acts.filter((_, index) => isLeft(faults.length + index)),
  };
}
