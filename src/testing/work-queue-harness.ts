import type {
  WorkQueue,
  WorkQueueConsumer,
  WorkQueueInspector,
  WorkQueueOptions,
  WorkQueueTending,
} from '@rollkeeper/runtime/work-queue';

/** A queue with everything that is promised of one. */
export type TestedWorkQueue = WorkQueue & WorkQueueInspector & WorkQueueTending;

/** One shared queue as several replicas see it. */
export interface WorkQueueHarness {
  /** Another producer on the same queue. */
  queue(): TestedWorkQueue;
  /** Another consumer on the same queue; each runs once. */
  consumer(): WorkQueueConsumer;
  /** Lets time go on until the condition holds; throws after `withinMs` (default 5000). */
  until(condition: () => boolean | Promise<boolean>, withinMs?: number): Promise<void>;
  /** Lets time go on, to see that something does not happen. */
  pass(ms: number): Promise<void>;
  /** What a handler does that takes this long. */
  workFor(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type MakeWorkQueueHarness = (options?: WorkQueueOptions) => Promise<WorkQueueHarness>;
