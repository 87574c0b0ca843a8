import type { Deployment } from '../../../src/machinery/kubernetes/index.js';
import type { RunningReplica } from '../../../src/testing/simulation/index.js';
import type { Examined } from '../exams.js';
import { passedUntil } from '../exams.js';
import type { HeldSlot, SlotChecks } from './slot-checks.js';

/** The dead replica may lead: its lease of 2.5 s ends first, and an add waits for lists; milliseconds. */
const TAKEN_OVER_WITHIN_MS = 8000;
/** Moves wait for copies, and those for lists; milliseconds. */
const RESTS_WITHIN_MS = 60_000;
/** Replicas report every five seconds, and the leader looks more often; milliseconds. */
const RESTED_MS = 8000;
const ENDS_WITHIN_MS = 60_000;
/** The numbers of slots of two replicas differ by this at most, once all is at rest. */
const TOLERATED = 2;

/** The parts of a run that the exams of slots need. */
export interface SlotExam extends Examined {
  readonly slots: SlotChecks;
  /** The Deployments as they are stored. */
  readonly deployments: () => Iterable<Deployment>;
  /** Changes the size of every Deployment. */
  readonly changeAll: () => void;
  /** They decide which replica dies and which is stopped; from 0 to 1. */
  readonly dice: readonly [number, number];
}

/** A replica dies and comes back, and another is stopped and comes back, while nothing else happens. */
export async function examineSlots(exam: SlotExam): Promise<void> {
  const [dies, stops] = exam.dice;
  await examineDeath(exam, Math.floor(dies * exam.world.replicas.length));
  await examineStop(exam, Math.floor(stops * exam.world.replicas.length));
}

/** The standbys own the slots of a dead replica soon, and process changes that came without an owner. */
async function examineDeath(exam: SlotExam, index: number): Promise<void> {
  const { changeAll, slots, world } = exam;
  if (!(await rests(exam, 'before a replica dies'))) return;
  const before = slots.stored();
  const victim = world.replicas[index]!;
  victim.process.kill();
  changeAll();
  const isOver = (): boolean => slots.unrest().length === 0 && unobserved(exam).length === 0;
  if (!(await passedUntil(exam, isOver, TAKEN_OVER_WITHIN_MS))) {
    const problem = [...slots.unrest(), ...unobserved(exam)].join('; ');
    return report(exam, victim, `${TAKEN_OVER_WITHIN_MS} ms after its end ${problem}`);
  }
  judgeTakeOver(exam, victim, before);
  await comesBack(exam, index);
}

/** The slots of a replica that is stopped go to their standbys. */
async function examineStop(exam: SlotExam, index: number): Promise<void> {
  const { slots, world } = exam;
  if (!(await rests(exam, 'before a replica is stopped'))) return;
  const before = slots.stored();
  const victim = world.replicas[index]!;
  victim.stop();
  const isOver = (): boolean => victim.hasEnded && slots.unrest().length === 0;
  if (!(await passedUntil(exam, isOver, ENDS_WITHIN_MS)))
    return report(exam, victim, `does not end, or after its stop ${slots.unrest().join('; ')}`);
  judgeTakeOver(exam, victim, before);
  await comesBack(exam, index);
}

/** A replica that comes takes about S/N slots, and none moves between the others. */
async function comesBack(exam: SlotExam, index: number): Promise<void> {
  const { slots, world } = exam;
  const left = world.replicas[index]!;
  if (!(await rests(exam, 'before a replica comes'))) return;
  const before = slots.stored();
  await exam.during(world.startReplica(index));
  const comer = world.replicas[index]!;
  if (comer === left) return report(exam, comer, 'does not come back');
  if (!(await rests(exam, 'after a replica has come'))) return;
  const after = slots.stored();
  const moved = movedBetween(before, after);
  const most = Math.ceil(after.length / world.replicas.length);
  if (moved.length > most) report(exam, comer, `has come, and ${moved.length} slots have moved`);
  for (const slot of moved)
    if (after[slot]!.owner !== comer.process.name)
      report(exam, comer, `has come, and slot ${slot} has gone to ${after[slot]!.owner}`);
  const changes = sumOf(after) - sumOf(before);
  if (changes !== moved.length)
    report(exam, comer, `has come, and ${moved.length} slots have changed their owner ${changes} times`);
}

/** Each slot of a replica that has gone first goes to the one that was its standby, and hardly another slot moves. */
function judgeTakeOver(exam: SlotExam, gone: RunningReplica, before: readonly HeldSlot[]): void {
  const after = exam.slots.stored();
  const { name } = gone.process;
  const moved = movedBetween(before, after);
  const ofOthers = moved.filter((slot) => before[slot]!.owner !== name);
  if (ofOthers.length > TOLERATED)
    report(exam, gone, `has gone, and the slots ${ofOthers.join(', ')} of others have moved`);
  for (const slot of moved) {
    const { epoch, owner, standby } = before[slot]!;
    const now = after[slot]!;
    if (owner === name && now.epoch === epoch + 1 && now.owner !== standby)
      report(exam, gone, `has gone, and slot ${slot} has gone to ${now.owner}, past its standby ${standby}`);
  }
}

/** Whether the assignment comes to rest with as many slots for each as it can. */
async function rests(exam: SlotExam, when: string): Promise<boolean> {
  const { kernel, replicas } = exam.world;
  const [first] = replicas;
  let text = '';
  let sinceMs = kernel.nowMs;
  const isAtRest = (): boolean => {
    const now = JSON.stringify(exam.slots.stored());
    if (now !== text || exam.slots.unrest().length > 0) sinceMs = kernel.nowMs;
    text = now;
    return kernel.nowMs - sinceMs >= RESTED_MS;
  };
  const isThere = await passedUntil(exam, isAtRest, RESTS_WITHIN_MS);
  if (exam.isOver()) return false;
  const unrest = exam.slots.unrest();
  if (!isThere && first)
    report(exam, first, `the slots do not come to rest ${when}: ${[...unrest, text].join('; ')}`);
  const living = replicas.filter(({ hasEnded, process }) => process.isAlive && !hasEnded);
  const stored = exam.slots.stored();
  const loads = living.map(({ process }) => stored.filter(({ owner }) => owner === process.name).length);
  if (isThere && Math.max(...loads) - Math.min(...loads) > TOLERATED)
    report(exam, living[0]!, `the replicas own ${loads.join(', ')} slots ${when}`);
  return isThere;
}

function unobserved({ deployments }: SlotExam): string[] {
  return [...deployments()].flatMap(({ metadata, status }) =>
    status?.observedGeneration === metadata.generation
      ? []
      : [`the change of ${metadata.namespace}/${metadata.name} has not been observed`],
  );
}

function movedBetween(before: readonly HeldSlot[], after: readonly HeldSlot[]): readonly number[] {
  return after.flatMap(({ owner }, slot) => (owner === before[slot]?.owner ? [] : [slot]));
}

function sumOf(slots: readonly HeldSlot[]): number {
  return slots.reduce((sum, { epoch }) => sum + epoch, 0);
}

function report(exam: Examined, { process }: RunningReplica, problem: string): void {
  exam.found({ check: 'slots', subject: process.name, problem });
}
