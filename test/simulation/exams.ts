import type { World } from '../../src/testing/simulation/index.js';
import type { Violation } from '../chaos/checkers/violation.js';

/** A leader looks after its queues every two seconds, and begins its term in them again; milliseconds. */
const NOTICES_WITHIN_MS = 10_000;
/** A controller begins once its caches have come, and a list without an answer is repeated; milliseconds. */
const WORKS_WITHIN_MS = 60_000;
/** A lease of 2.5 s ends, and the witness looks; milliseconds. */
const LEADS_WITHIN_MS = 30_000;

/** The parts of a run that an exam needs. */
export interface Examined {
  readonly world: World;
  /** Lets time pass, and judges every step of it. */
  passUntil(endMs: number): Promise<void>;
  /** Lets time pass until a promise has settled, and judges every step of it. */
  during<T>(work: Promise<T>): Promise<T>;
  found(violation: Violation): void;
  /** Whether the run ends, because something was found, say: then no time passes any more. */
  isOver(): boolean;
}

/**
 * A queue that loses its keys while nothing changes is noticed, once its controller works: no add tells the leader then.
 * @param which of the queues, from 0 to 1
 */
export async function examineLostQueue(examined: Examined, which: number): Promise<void> {
  const { replicas, store } = examined.world;
  const { queue } = store.queues[Math.floor(which * store.queues.length)] ?? {};
  if (!queue) return;
  const { name } = queue;
  const works = (): boolean =>
    replicas.some(
      ({ manager }) =>
        manager.isLeader &&
        manager.controllers.some(({ controller }) => controller.name === name && controller.isConsuming),
    );
  await passedUntil(examined, works, WORKS_WITHIN_MS);
  store.loseQueue(which);
  const isNoticed = (): boolean => store.queues.some(({ hasTerm, queue }) => queue.name === name && hasTerm);
  if (await passedUntil(examined, isNoticed, NOTICES_WITHIN_MS)) return;
  const problem = `the leader does not notice within ${NOTICES_WITHIN_MS} ms that it has lost its keys`;
  examined.found({ check: 'lost queue', subject: `queue ${name}`, problem });
}

/** Each replica can lead, regardless of its past: it does so while the others are paused. */
export async function examineLeadership(examined: Examined): Promise<void> {
  const { replicas } = examined.world;
  for (const { manager, process } of replicas) {
    const others = replicas.filter((replica) => replica.process !== process);
    for (const other of others) other.process.pause();
    const leads = await passedUntil(examined, () => manager.isLeader, LEADS_WITHIN_MS);
    for (const other of others) other.process.resume();
    if (leads) continue;
    const problem = `does not lead within ${LEADS_WITHIN_MS} ms, although no other runs`;
    return examined.found({ check: 'leadership', subject: process.name, problem });
  }
}

const LOOK_EVERY_MS = 500;

/** Whether something comes true within a time, simulated milliseconds. */
export async function passedUntil(
  examined: Examined,
  isSo: () => boolean,
  withinMs: number,
): Promise<boolean> {
  const { kernel } = examined.world;
  const endMs = kernel.nowMs + withinMs;
  while (!isSo() && !examined.isOver() && kernel.nowMs < endMs)
    await examined.passUntil(kernel.nowMs + LOOK_EVERY_MS);
  return isSo();
}
