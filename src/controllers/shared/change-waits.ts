import { z } from 'zod';

/**
 * Debounce times: how long there must be no further change of an object's children before it is synced, so that many
 * changes make one sync; milliseconds. The controller's event handlers choose the one for a change. Benefits:
 * docs/PERFORMANCE.md, "What each wait is worth".
 */
export interface ChangeWaits {
  /** Any relevant change; no delay if the children have reached their target. @default 100 */
  burstMs?: number;
  /** Pods are changing, and the next step depends on them. @default 300 */
  waveMs?: number;
  /**
   * Only a number in a status changes, as when inactive pods are deleted, or nothing at all, unless another client has
   * written our status. @default 1000
   */
  countMs?: number;
}

export type CompiledChangeWaits = Readonly<Required<ChangeWaits>>;

/** For a controller's option `waits`. */
export const changeWaits = z
  .strictObject({
    burstMs: z.number().nonnegative().default(100),
    waveMs: z.number().nonnegative().default(300),
    countMs: z.number().nonnegative().default(1000),
  })
  .prefault({});
