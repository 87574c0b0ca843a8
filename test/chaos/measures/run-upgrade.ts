import { Checks } from '../checks.js';
import { findUnrest } from '../checkers/rest.js';
import type { Violation } from '../checkers/violation.js';
import { History } from '../history.js';
import { Load } from '../load.js';
import { LOAD_NAMESPACE } from '../namespaces.js';
import { findQueued } from '../queues.js';
import { SeededRandom } from '../random.js';
import type { ChaosSet } from '../set/chaos-set.js';
import { waitFor } from '../../../src/testing/wait-for.js';

export interface UpgradeOptions {
  readonly seed: number;
  readonly deployments: number;
  /** Between two users' changes. */
  readonly pauseMs: number;
  /** So long two versions work side by side after each replica. */
  readonly sideBySideMs: number;
  readonly say: (line: string) => void;
}

export interface UpgradeTimes {
  /** The longest time without a change of any object, while replicas were replaced. */
  readonly replicasGapMs: number;
  /** The same, while the API server and the simulated nodes were: its own restart is in it. */
  readonly serversGapMs: number;
  /** Changes of users that the API confirmed. */
  readonly acknowledged: number;
  readonly violations: readonly Violation[];
}

/**
 * Under load, gives one process after the other another version: the replicas, then the simulated nodes and the API server.
 * Afterwards everything must come to rest, with all that was asked for and within the limits all the way.
 * @param dist the folder of the other version's program
 */
export async function measureUpgrade(
  set: ChaosSet,
  dist: string,
  { deployments, pauseMs, say, seed, sideBySideMs }: UpgradeOptions,
): Promise<UpgradeTimes> {
  const history = new History(set.client, LOAD_NAMESPACE);
  const seenAtMs: number[] = [];
  history.onEvent = () => void seenAtMs.push(performance.now());
  await history.start();
  const load = new Load({
    ...{ client: set.client, random: new SeededRandom(seed), deployments, pauseMs },
    shapes: 'plain',
  });
  load.start();
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, sideBySideMs));
  await waitFor(() => seenAtMs.length > 100, { what: 'the load to be under way', timeoutMs: 60_000 });

  const startedMs = performance.now();
  for (const replica of set.replicas) {
    await replica.replaceBy(dist);
    await set.untilSettled();
    say(`${replica.name} is replaced`);
    await pause();
  }
  const replicasDoneMs = performance.now();
  await set.replaceServersBy(dist);
  await set.untilSettled();
  say('the API server and the nodes are replaced');
  await pause();
  const allDoneMs = performance.now();

  await load.stop();
  const left = async (): Promise<string[]> => [
    ...(await findUnrest(set.client, LOAD_NAMESPACE)),
    ...(await findQueued(set)),
  ];
  const isAtRest = await waitFor(async () => (await left()).length === 0, {
    timeoutMs: 120_000,
    intervalMs: 200,
    what: 'everything to come to rest',
  }).catch(() => false);
  await history.untilComplete();
  const checks = new Checks();
  const violations = [...checks.checkRecorded(history.take(), [], []), ...checks.checkAtRest(load.last())];
  if (!isAtRest)
    violations.push({
      check: 'rest',
      subject: 'the set',
      problem: `never at rest: ${(await left()).join('; ')}`,
    });
  await history.stop();
  return {
    replicasGapMs: longestGap(seenAtMs, startedMs, replicasDoneMs),
    serversGapMs: longestGap(seenAtMs, replicasDoneMs, allDoneMs),
    acknowledged: load.counts.acknowledged,
    violations,
  };
}

function longestGap(atMs: readonly number[], fromMs: number, untilMs: number): number {
  const marks = [fromMs, ...atMs.filter((ms) => ms > fromMs && ms < untilMs), untilMs];
  return Math.max(...marks.slice(1).map((ms, index) => ms - (marks[index] ?? ms)));
}
