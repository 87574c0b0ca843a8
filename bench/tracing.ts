import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { OtlpReceiver } from '../test/e2e/support/otlp-receiver.js';
import { startMeasuredUp } from './support/measured-up.js';

/**
 * What tracing costs: the CPU of all processes for the same rollouts, with spans sent and without, in turns.
 *
 * Twice: with rollouts that begin one after the other, at a rate that the processors can carry; and with all of them at
 * once. In the storm all processors are busy all the time, and processes that share them and their caches slow each
 * other: whatever takes part then costs more than it does, in every process. What Redis needs, which makes no spans,
 * shows how much of a difference that is, and how much faster or slower the machine has become meanwhile.
 */
const { values } = parseArgs({
  options: {
    deployments: { type: 'string', default: '30' },
    pods: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '4' },
    // A rollout begins every so many milliseconds; 0: all at once.
    every: { type: 'string', default: '150,0' },
    // So many times every Deployment is rolled out before anything is counted, and while it is. A set needs half as much CPU
    // again in its first six times, while it compiles, as from the 36th on; after 24, a tenth more.
    'warm-up': { type: 'string', default: '24' },
    measured: { type: 'string', default: '6' },
  },
});
const deployments = Number(values.deployments);
const pods = Number(values.pods);
const warmUp = Number(values['warm-up']);
const measured = Number(values.measured);

interface Measured {
  readonly ours: number;
  readonly redis: number;
  /** What part of the processors' time was used, 0 to 1. */
  readonly busy: number;
}

const receiver = await OtlpReceiver.start({ decodesLater: true });
try {
  for (const every of values.every.split(',')) await compare(Number(every));
} finally {
  await receiver.stop();
}

async function compare(everyMs: number): Promise<void> {
  const off: Measured[] = [];
  const on: Measured[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const withSpans = async () =>
      on.push(await measure({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, everyMs));
    const without = async () => off.push(await measure({ OTEL_SDK_DISABLED: 'true' }, everyMs));
    // Not always the same first: the machine may grow slower, or faster, all the while.
    for (const turn of round % 2 === 0 ? [without, withSpans] : [withSpans, without]) await turn();
  }
  receiver.decodeAll();
  const spans = receiver.spans.splice(0).length;
  const begun = everyMs > 0 ? `one begun every ${everyMs} ms` : 'all begun at once';
  console.log(
    `${deployments} Deployments x ${pods} pods, rolled out ${measured} times after ${warmUp} times, ${begun}: processors ` +
      `${(100 * meanOf(off, 'busy')).toFixed(0)} % busy without tracing, ${(100 * meanOf(on, 'busy')).toFixed(0)} % with`,
  );
  console.log(`  CPU without tracing ${told(off)}`);
  console.log(`  CPU with tracing    ${told(on)}`);
  const byRound = off.map((without, round) => more(on[round]!.ours, without.ours));
  const inRelation = off.map((without, round) => more(inRedis([on[round]!]), inRedis([without])));
  console.log(
    `  overhead ${percent(more(meanOf(on, 'ours'), meanOf(off, 'ours')))} (${spread(byRound)}); ${spans} spans received`,
  );
  console.log(
    `  Redis, which traces nothing: ${percent(more(meanOf(on, 'redis'), meanOf(off, 'redis')))}; ` +
      `overhead in relation to it: ${percent(more(inRedis(on), inRedis(off)))} (${spread(inRelation)})`,
  );
}

function told(rounds: readonly Measured[]): string {
  return `${meanOf(rounds, 'ours').toFixed(2)} s (${rounds.map(({ ours }) => ours.toFixed(2)).join(', ')})`;
}

/** Not the best of them: on a shared machine the same work costs up to 60 % more from one minute to the next. */
function meanOf(rounds: readonly Measured[], of: keyof Measured): number {
  return mean(rounds.map((round) => round[of]));
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, each) => sum + each, 0) / figures.length;
}

/** The CPU of ours for a second of Redis's. */
function inRedis(rounds: readonly Measured[]): number {
  return meanOf(rounds, 'ours') / meanOf(rounds, 'redis');
}

/** What `figure` is more than `than`, as a part of it. */
function more(figure: number, than: number): number {
  return figure / than - 1;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

/** How far the rounds can be believed, and each of them. */
function spread(rounds: readonly number[]): string {
  const squares = mean(rounds.map((each) => (each - mean(rounds)) ** 2));
  const error = percent(Math.sqrt(squares / (rounds.length - 1)));
  return `${rounds.length > 1 ? `standard error ${error}, ` : ''}by round: ${rounds.map(percent).join(', ')}`;
}

/** Rollouts of each Deployment, by processes that have warmed up. */
async function measure(env: NodeJS.ProcessEnv, everyMs: number): Promise<Measured> {
  const up = await startMeasuredUp({ env, deployments, pods });
  try {
    // What a process spends on code of its own that is not compiled yet is a cost of its first seconds, not of tracing.
    for (let image = 0; image < warmUp; image++) await up.rollOut(`web:warm-up-${image}`, 0);
    const before = up.cpu();
    const startedMs = performance.now();
    for (let image = 0; image < measured; image++) await up.rollOut(`web:measured-${image}`, everyMs);
    const after = up.cpu();
    const ours = after.ours - before.ours;
    const redis = after.redis - before.redis;
    const seconds = (performance.now() - startedMs) / 1000;
    return { ours, redis, busy: (ours + redis) / (seconds * availableParallelism()) };
  } finally {
    await up.stop();
  }
}
