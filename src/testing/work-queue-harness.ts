import type {
  WorkQueue,
  WorkQueueConsumer,
  WorkQueueInspector,
  WorkQueueOptions,
  WorkQueueTending,
} from '@rollkeeper/runtime/work-queue';

/** A queue with all its interfaces. */
export type TestedWorkQueue = WorkQueue & WorkQueueInspector & WorkQueueTending;

/** One shared queue as seen by several replicas. */
export interface WorkQueueHarness {
  /** Another producer on the same queue. */
  queue(): TestedWorkQueue;
  /** Another consumer on the same queue; each runs once. */
  consumer(): WorkQueueConsumer;
  /** Lets time pass until the condition holds; throws after `withinMs` (default 5000). */
  until(condition: () => boolean | Promise<boolean>, withinMs?: number): Promise<void>;
  /** Lets time pass, to check that something does not happen. */
  pass(ms: number): Promise<void>;
  /** A handler's work of this duration. */
  workFor(ms: number): Promise<void>;
  /**
   * CPU time that the queue has used so far, milliseconds. Absent where it cannot be told from what others use at the
   * same time.
   */
  readonly cpuMs?: () => number;
  close(): Promise<void>;
}

/** For the states of a key, which no worker changes while it fires a timer. */
export interface KeyStateHarness extends WorkQueueHarness {
  /** Lets the key's timer fire, which is due in a millisecond. */
  fire(key: string): Promise<void>;
}

/** Makes a queue for one test of its contract. */
export type MakeWorkQueueHarness = (options?: WorkQueueOptions) => Promise<WorkQueueHarness>;
