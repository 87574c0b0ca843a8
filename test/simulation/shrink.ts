import type { Plan } from './plan.js';
import type { SimulateOptions, SimulationResult } from './simulate.js';
import { simulate } from './simulate.js';

/** Leaves out what a failure does not need: whole kinds of faults, whole Deployments, then single events. */
export async function shrink(
  options: SimulateOptions,
  failed: SimulationResult,
  onStep: (plan: Plan) => void = () => undefined,
): Promise<SimulationResult> {
  const [first] = failed.violations;
  if (!first) return failed;
  let smallest = failed;
  const tryWithout = async (plan: Plan): Promise<boolean> => {
    if (sizeOf(plan) >= sizeOf(smallest.plan)) return false;
    const result = await simulate({ ...options, plan });
    if (!result.violations.some(({ check }) => check === first.check)) return false;
    smallest = result;
    onStep(plan);
    return true;
  };
  // The failure does not need anything that comes after it.
  await tryWithout(upTo(failed.plan, first.atMs));
  for (const kind of new Set(failed.plan.faults.map(({ fault }) => fault)))
    await tryWithout(withFaults(smallest.plan, ({ fault }) => fault !== kind));
  for (const name of new Set(failed.plan.acts.map((act) => act.name)))
    await tryWithout(withActs(smallest.plan, (act) => act.name !== name));
  for (let size = Math.ceil(sizeOf(smallest.plan) / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < sizeOf(smallest.plan);)
      if (!(await tryWithout(withoutPart(smallest.plan, from, size)))) from += size;
  }
  return smallest;
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
