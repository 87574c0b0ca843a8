import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { errorMessage } from '../../src/machinery/errors/index.js';
import { readNextSeed, writeNextSeed } from './next-seed.js';
import type { SimulationOptions } from './options.js';
import { USAGE, simulationOptionsOf } from './options.js';
import type { Plan } from './plan.js';
import { densePlanOf, planBesideOf, planOf, wayOfTwo } from './plan.js';
import { WORKER, runMany, work } from './run-many.js';
import type { FailedSeed } from './seed-pool.js';
import { SeedPool } from './seed-pool.js';
import { shrink, testOf } from './shrink.js';
import type { SimulateOptions, SimulationResult } from './simulate.js';
import { simulate } from './simulate.js';
import { loadOther } from './versions/versions.js';
import type { TraceLine } from '../../src/testing/simulation/index.js';

/** How many lines of a trace a person can want at most. */
const KEPT_LINES = 20_000;
/** How long there are faults, simulated seconds: of many seeds, so that their starts and ends are a small part. */
const SECONDS = { one: 60, many: 240 };
/** How often many seeds report their progress, in faults. */
const TOLD_EVERY = 100_000;
/** Not a part of the repository. */
const NEXT_SEED = join(import.meta.dirname, '../../node_modules/.cache/rollkeeper/next-seed');

/** Lines about routine inside of one process, which explain nothing. */
const ROUTINE = /^timer$|^witness look|^lease (try|get)|queue (take|renew|check term|counts)|^claims /;

/** A trace as a sequence diagram. @param whole also what is routine. @default false */
function mermaidOf(lines: readonly TraceLine[], { whole = false } = {}): string {
  const shown = whole ? lines : lines.filter(({ text }) => !ROUTINE.test(text));
  const names = [...new Set(shown.flatMap(({ from, to }) => [from, to]))];
  const idOf = new Map(names.map((name, index) => [name, `p${index}`]));
  return [
    'sequenceDiagram',
    ...names.map((name) => `  participant ${idOf.get(name)} as ${name}`),
    ...shown.map((line) => arrowOf(line, idOf)),
  ].join('\n');
}

function arrowOf({ atMs, from, text, to }: TraceLine, idOf: ReadonlyMap<string, string>): string {
  const at = `${(atMs / 1000).toFixed(4)} s`;
  const words = text.replaceAll(';', ',').replaceAll('#', '');
  if (from === to) return `  Note over ${idOf.get(from)}: ${at}: ${words}`;
  const arrow = /\((request|answer|event) (lost|broken)\)/.test(text) ? '-x' : '->>';
  return `  ${idOf.get(from)}${arrow}${idOf.get(to)}: ${at}: ${words}`;
}

/** @returns how many seeds fail */
async function runSeeds(values: SimulationOptions): Promise<number> {
  const first = values.seed ?? (values.nightly ? readNextSeed(NEXT_SEED) : 1);
  const count = values.nightly ? Infinity : (values.count ?? 1);
  const troubledMs = (values.seconds ?? SECONDS[values.dense ? 'many' : 'one']) * 1000;
  let faults = 0;
  let failures = 0;
  for (let seed = first; seed < first + count; seed++) {
    const plan = chosenPlan(values, seed, troubledMs);
    const beside = values.beside === undefined ? undefined : await loadOther(values.beside);
    const options: SimulateOptions = {
      ...{ seed, troubledMs, keepTrace: values.trace ? KEPT_LINES : 0 },
      ...(plan && { plan }),
      ...(beside && { beside }),
      ...(values.spans !== undefined && { spans: true }),
      ...(values.steps !== undefined && { steps: values.steps }),
    };
    const beganMs = process.cpuUsage().user / 1000;
    const result = await simulate(options);
    faults += result.faultCount;
    if (values.nightly) writeNextSeed(NEXT_SEED, seed + 1);
    console.error(summaryOf(result, process.cpuUsage().user / 1000 - beganMs));
    if (values.spans !== undefined) writeFileSync(values.spans, result.spans ?? '');
    if (values.trace) console.log(mermaidOf(result.trace, { whole: values.whole }));
    if (result.violations.length === 0) continue;
    failures += 1;
    for (const { atMs, check, problem, step, subject } of result.violations)
      console.error(
        `  ${check}, ${subject}, after ${(atMs / 1000).toFixed(3)} s and ${step} steps: ${problem}`,
      );
    if (values.shrink) await writeShrunk(options, result);
  }
  console.error(`${faults} faults, ${failures} seeds failed`);
  return failures;
}

/** Undefined: the seed's own. */
function chosenPlan(
  { beside, dense, redis, slots, world }: SimulationOptions,
  seed: number,
  troubledMs: number,
): Plan | undefined {
  const chosen = world && { world };
  if (slots) return planOf(seed, troubledMs, { slots, ...chosen });
  if (redis) return planOf(seed, troubledMs, { way: 'redis', ...chosen });
  const plan = dense ? densePlanOf(seed, troubledMs) : undefined;
  if (beside === undefined) return plan ?? (chosen && planOf(seed, troubledMs, chosen));
  if (plan) return { ...plan, coordination: wayOfTwo(plan.coordination) };
  return planBesideOf(seed, troubledMs, world);
}

/** A failing seed becomes a test beside this file. */
async function writeShrunk(options: SimulateOptions, failed: SimulationResult): Promise<void> {
  const { isMinimal, result, runs } = await shrink(options, failed, {
    onStep: () => void process.stderr.write('.'),
  });
  const file = join(import.meta.dirname, `seed-${options.seed}.test.ts`);
  writeFileSync(file, testOf(result));
  const { acts, faults } = result.plan;
  const end = isMinimal ? 'none of which can be left out' : 'the most runs were made before it was done';
  console.error(`\n${faults.length} faults and ${acts.length} acts of users, ${end}, after ${runs} runs`);
  console.log(relative(process.cwd(), file));
}

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

/** Dense seeds on several processes, until they have made so many faults. @returns how many seeds fail */
async function runUntilFaults(faults: number, values: SimulationOptions): Promise<number> {
  const seconds = values.seconds ?? SECONDS.many;
  const pool = new SeedPool({
    ...{ first: values.seed ?? 1, faults, twice: !values.once },
    ...(values.count !== undefined && { seeds: values.count }),
  });
  const { totals } = pool;
  const beganMs = performance.now();
  const tookSeconds = (): string => ((performance.now() - beganMs) / 1000).toFixed(0);
  let told = 0;
  let toldFailures = 0;
  await runMany({
    ...{ pool, troubledMs: seconds * 1000 },
    ...(values.workers !== undefined && { workers: values.workers }),
    onRun: () => {
      for (; toldFailures < pool.failed.length; toldFailures++)
        console.log(failureOf(pool.failed[toldFailures]!, seconds));
      if (totals.faultCount < told + TOLD_EVERY) return;
      told = totals.faultCount;
      console.log(`${totals.faultCount} faults after ${tookSeconds()} s`);
    },
  });
  const runs = values.once ? 'once' : 'twice in the same way';
  console.log(
    `${pool.range} of ${seconds} s, each ${runs}: ${totals.faultCount} faults, ${totals.checks} checks, ` +
      `${totals.steps} steps, ${(totals.simulatedMs / 1000).toFixed(0)} simulated seconds; took ${tookSeconds()} s`,
  );
  for (const [kind, count] of [...pool.faults].toSorted((a, b) => b[1] - a[1]))
    console.log(`${String(count).padStart(9)}  ${kind}`);
  console.log(`${pool.failed.length} seeds failed`);
  return pool.failed.length;
}

/** With the command that replays it. */
function failureOf({ problems, seed }: FailedSeed, seconds: number): string {
  const lines = problems.map(({ check, problem, subject }) => `  ${check}, ${subject}: ${problem}`);
  return [
    `seed ${seed} FAILS: npm run simulate -- --dense --seed ${seed} --seconds ${seconds}`,
    ...lines,
  ].join('\n');
}

/** @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  let values: SimulationOptions;
  try {
    values = simulationOptionsOf(args);
  } catch (error) {
    console.error(`${errorMessage(error)}\n\n${USAGE}`);
    return 2;
  }
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const { faults } = values;
  const failures = await (faults === undefined ? runSeeds(values) : runUntilFaults(faults, values));
  return failures > 0 ? 1 : 0;
}

const args = process.argv.slice(2);
if (args.includes(WORKER)) work();
else process.exitCode = await main(args);
