import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { OtlpReceiver } from '../test/e2e/support/otlp-receiver.js';
import { number, numbers, readFlags, yes } from '../test/support/flags.js';
import type { MeasuredUp } from './support/measured-up.js';
import { startMeasuredUp } from './support/measured-up.js';

/**
 * Measures the cost of tracing: the CPU of all processes for the same rollouts, with spans sent and without.
 *
 * A set that traces and one that does not run side by side, in turns of a few seconds: one is stopped (SIGSTOP) while the
 * other works. On a shared machine the same work costs up to 60 % more from one minute to the next, and what is measured a
 * minute apart cannot be compared. There are several pairs of sets, since no two sets compile themselves alike.
 *
 * This is done twice: with rollouts that begin one after the other, at a rate that the processors can carry; and with all
 * of them at once. In the storm all processors are busy all the time, and processes that share them and their caches slow each
 * other: each that takes part then costs more than it does, in every process. What Redis needs, which makes no spans,
 * shows how much of a difference that is.
 */
const flags = readFlags('npm run bench -- --tracing', {
  deployments: number('Deployments of a set', 30),
  pods: number('pods of each', 10),
  pairs: number('pairs of sets', 4),
  turns: number('turns of each set', 12),
  every: numbers('a rollout begins every so many milliseconds; 0: all at once', [150, 0]),
  // A set needs half as much CPU again in its first six times, while it compiles, as from the 36th on; after 24, a tenth more.
  warmUp: number('times that every Deployment is rolled out before anything is counted', 24),
  control: yes('neither set traces: what the figures are worth'),
});
const { deployments, pods, warmUp } = flags;
const UNTRACED = { OTEL_SDK_DISABLED: 'true' };
/** Rollouts of every Deployment in one turn: some four seconds, long against pausing and resuming. */
const ROLLOUTS = { atARate: 1, allAtOnce: 3 };
/**
 * After this the consequences of a rollout are over, such as the end of the last pods: a process must not be stopped
 * while it processes a key.
 */
const SETTLE_MS = 500;
/** Turns without a rollout, of each set: what they cost, pausing and resuming for the most part, is taken off the others. */
const EMPTY_TURNS = 6;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** The exit code of a program that Ctrl-C ended, as a shell reports it. */
const INTERRUPTED = 130;

interface Turn {
  readonly ours: number;
  readonly redis: number;
  readonly seconds: number;
}

type Sets = Readonly<Record<'off' | 'on', MeasuredUp>>;
type Figure = (turn: Turn) => number;

/** Turns of both sets, the n-th of one right beside the n-th of the other. */
interface Compared {
  readonly off: readonly Turn[];
  readonly on: readonly Turn[];
}

const receiver = await OtlpReceiver.start({ decodesLater: true });
const TRACED = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
try {
  for (const every of flags.every) await compare(every);
} finally {
  await receiver.stop();
}

async function compare(everyMs: number): Promise<void> {
  const begun = everyMs > 0 ? `one begun every ${everyMs} ms` : 'all begun at once';
  console.log(`${deployments} Deployments x ${pods} pods, ${begun}, after ${warmUp} times:`);
  const pairs: Compared[] = [];
  for (let pair = 0; pair < flags.pairs; pair++) {
    pairs.push(await comparePair(everyMs));
    console.log(`  pair ${pair + 1}: ${told(pairs.slice(-1), turnsOf)}`);
  }
  if (pairs.length > 1) console.log(`  together: ${told(pairs, pairsOf)}`);
}

/** Both sets start at once: one that had been started before the other was measured 5 % slower, for as long as it lived. */
async function comparePair(everyMs: number): Promise<Compared> {
  const [off, on] = await Promise.all([
    startMeasuredUp({ env: UNTRACED, deployments, pods }),
    startMeasuredUp({ env: flags.control ? UNTRACED : TRACED, deployments, pods }),
  ]);
  // A process that SIGSTOP has stopped does not notice Ctrl-C.
  const interrupt = () => void stopAll([off, on]).finally(() => process.exit(INTERRUPTED));
  for (const signal of SIGNALS) process.once(signal, interrupt);
  try {
    return await compareSets({ off, on }, everyMs);
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
    await stopAll([off, on]);
  }
}

async function stopAll(sets: readonly MeasuredUp[]): Promise<void> {
  await Promise.all(sets.map((set) => set.stop()));
}

async function compareSets(sets: Sets, everyMs: number): Promise<Compared> {
  for (const set of [sets.off, sets.on]) set.pause();
  // A process spends its first seconds on compiling its own code. That is no cost of tracing.
  await takeTurns(sets, warmUp, (set, image) => set.rollOut(`${image}-warm-up`, 0));
  const rollouts = everyMs > 0 ? ROLLOUTS.atARate : ROLLOUTS.allAtOnce;
  const full = await takeTurns(sets, flags.turns, async (set, image) => {
    for (let rollout = 0; rollout < rollouts; rollout++) await set.rollOut(`${image}-${rollout}`, everyMs);
  });
  const empty = await takeTurns(sets, EMPTY_TURNS, () => Promise.resolve());
  receiver.decodeAll();
  if (receiver.spans.splice(0).length === 0 && !flags.control)
    throw new Error('no span was received: nothing was compared');
  return { off: lessEmpty(full.off, empty.off), on: lessEmpty(full.on, empty.on) };
}

async function takeTurns(
  sets: Sets,
  turns: number,
  work: (set: MeasuredUp, image: string) => Promise<void>,
): Promise<Compared> {
  const off: Turn[] = [];
  const on: Turn[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const without = async () => off.push(await takeTurn(sets.off, () => work(sets.off, `web:turn-${turn}`)));
    const withSpans = async () => on.push(await takeTurn(sets.on, () => work(sets.on, `web:turn-${turn}`)));
    for (const take of turn % 2 === 0 ? [without, withSpans] : [withSpans, without]) await take();
  }
  return { off, on };
}

function lessEmpty(full: readonly Turn[], empty: readonly Turn[]): Turn[] {
  const least = { ours: mean(empty.map(({ ours }) => ours)), redis: mean(empty.map(({ redis }) => redis)) };
  return full.map(({ ours, redis, seconds }) => ({
    ours: ours - least.ours,
    redis: redis - least.redis,
    seconds,
  }));
}

/** Counted from stop to stop, so that nothing that a rollout leads to is left out, whenever it happens. */
async function takeTurn(up: MeasuredUp, work: () => Promise<void>): Promise<Turn> {
  const before = up.cpu();
  const startedMs = performance.now();
  up.resume();
  await work();
  await sleep(SETTLE_MS);
  const seconds = (performance.now() - startedMs) / 1000;
  up.pause();
  const after = up.cpu();
  return { ours: after.ours - before.ours, redis: after.redis - before.redis, seconds };
}

function told(
  pairs: readonly Compared[],
  ratiosOf: (pairs: readonly Compared[], figure: Figure) => number[],
): string {
  const off = pairs.flatMap((pair) => pair.off);
  const on = pairs.flatMap((pair) => pair.on);
  const ours: Figure = (turn) => turn.ours;
  const more = (figure: Figure): string => overhead(ratiosOf(pairs, figure));
  return (
    `CPU of a turn ${mean(off.map(ours)).toFixed(2)} -> ${mean(on.map(ours)).toFixed(2)} s, processors ` +
    `${percent(busy(off), 0)} -> ${percent(busy(on), 0)} busy; overhead ${more(ours)}; Redis, which traces nothing, ` +
    `${more(({ redis }) => redis)}; in relation to Redis ${more((turn) => turn.ours / turn.redis)}`
  );
}

/** With one set of each kind the error is that of its turns, and says nothing of how sets differ. */
function turnsOf(pairs: readonly Compared[], figure: Figure): number[] {
  return pairs.flatMap(({ off, on }) => off.map((turn, index) => figure(on[index]!) / figure(turn)));
}

function pairsOf(pairs: readonly Compared[], figure: Figure): number[] {
  return pairs.map((pair) => geometricMean(turnsOf([pair], figure)));
}

/**
 * The additional cost, with its standard error. A plain mean of ratios takes noise for cost; the geometric one does
 * not.
 */
function overhead(ratios: readonly number[]): string {
  const logarithms = ratios.map(Math.log);
  const centre = mean(logarithms);
  const error = Math.sqrt(mean(logarithms.map((each) => (each - centre) ** 2)) / (ratios.length - 1));
  return `${percent(Math.exp(centre) - 1)} ± ${percent(error)}`;
}

function geometricMean(ratios: readonly number[]): number {
  return Math.exp(mean(ratios.map(Math.log)));
}

/** The part of the processors' time that was used, 0 to 1. */
function busy(turns: readonly Turn[]): number {
  return mean(turns.map(({ ours, redis, seconds }) => (ours + redis) / (seconds * availableParallelism())));
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, each) => sum + each, 0) / figures.length;
}

function percent(part: number, digits = 1): string {
  return `${(part * 100).toFixed(digits)} %`;
}
