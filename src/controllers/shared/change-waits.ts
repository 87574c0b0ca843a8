import { z } from 'zod';

/**
 * How long nothing more must happen to the children of an object before it is synced, so that what happens to many of them makes one
 * sync; milliseconds. Which of them a change waits for, its controller's event handlers tell. What each is worth:
 * docs/PERFORMANCE.md, "What each wait is worth".
 */
export interface ChangeWaits {
  /** Any change that something may follow from; none where the children have come to where they should be. @default 100 */
  burstMs?: number;
  /** Pods are on their way, and what can be done next follows from them. @default 300 */
  waveMs?: number;
  /**
   * Nothing follows but a number in a status, as when pods that had stopped counting are gone, or nothing at all, unless somebody else
   * has written a status of ours. @default 1000
   */
  countMs?: number;
}

export type CompiledChangeWaits = Readonly<Required<ChangeWaits>>;

/** For the options of a controller, as `waits`. */
export const changeWaits = z
  .strictObject({
    burstMs: z.number().nonnegative().default(100),
    waveMs: z.number().nonnegative().default(300),
    countMs: z.number().nonnegative().default(1000),
  })
  .prefault({});
