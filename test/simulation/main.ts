import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mermaidOf } from './mermaid.js';
import { planOf } from './plan.js';
import { readNextSeed, writeNextSeed } from './next-seed.js';
import { shrink, testOf } from './shrink.js';
import type { SimulationResult } from './simulate.js';
import { simulate } from './simulate.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    steps: { type: 'string' },
    redis: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    nightly: { type: 'boolean', default: false },
  },
});

/** How many lines of a trace a person can want at most. */
const KEPT_LINES = 20_000;
/** Not a part of the repository. */
const NEXT_SEED = join(import.meta.dirname, '../../node_modules/.cache/rollkeeper/next-seed');
const first = Number(values.seed ?? (values.nightly ? readNextSeed(NEXT_SEED) : 1));
const count = values.nightly ? Infinity : Number(values.count);
const options = {
  troubledMs: Number(values.seconds) * 1000,
  ...(values.steps !== undefined && { steps: Number(values.steps) }),
  keepTrace: values.trace ? KEPT_LINES : 0,
};
let faults = 0;
let failures = 0;

for (let seed = first; seed < first + count; seed++) {
  const beganMs = process.cpuUsage().user / 1000;
  const plan = values.redis ? planOf(seed, options.troubledMs, undefined, 'redis') : undefined;
  const result = await simulate({ ...options, seed, ...(plan && { plan }) });
  faults += result.faultCount;
  if (values.nightly) writeNextSeed(NEXT_SEED, seed + 1);
  console.error(summaryOf(result, process.cpuUsage().user / 1000 - beganMs));
  if (values.trace) console.log(mermaidOf(result.trace, { whole: values.whole }));
  if (result.violations.length === 0) continue;
  failures += 1;
  for (const { atMs, check, problem, step, subject } of result.violations)
    console.error(
      `  ${check}, ${subject}, after ${(atMs / 1000).toFixed(3)} s and ${step} steps: ${problem}`,
    );
  if (values.shrink)
    console.log(testOf(await shrink({ ...options, seed }, result, () => process.stderr.write('.'))));
}
console.error(`${faults} faults, ${failures} seeds failed`);
process.exitCode = failures > 0 ? 1 : 0;

function summaryOf(result: SimulationResult, cpuMs: number): string {
  const { checks, faultCount, seed, simulatedMs, steps, traceHash, users, violations } = result;
  return [
    `seed ${seed}: ${violations.length === 0 ? 'holds' : 'FAILS'}`,
    `trace ${traceHash}`,
    `${(simulatedMs / 1000).toFixed(0)} simulated seconds in ${(cpuMs / 1000).toFixed(2)} s of CPU`,
    `${steps} steps`,
    `${faultCount} faults`,
    `${checks} checks`,
    `${users.acknowledged + users.refused + users.unknown} changes by users`,
  ].join(', ');
}
