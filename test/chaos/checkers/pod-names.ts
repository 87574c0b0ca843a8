import type { HistoryEvent } from '../history.js';
import type { Violation } from './violation.js';

/**
 * The longest that an intent of a creation can be open: the next sync of its key settles it, once the API server answers
 * again after a fault.
 */
const INTENT_ENDS_MS = 30_000;
/** Limit of remembered names of deleted pods. Older ones would have come back by now. */
const MOST_REMEMBERED = 20_000;

interface Life {
  readonly uid: string;
  readonly sinceMs: number;
  endedMs?: number;
}

/** (d) No pod comes back under the name of a deleted one, unless the answer to its creation may have been open until then. */
export class PodNamesChecker {
  private readonly lives = new Map<string, Life>();
  checks = 0;

  check({ deleted, kind, object, seenAtMs }: HistoryEvent): Violation[] {
    if (kind !== 'Pod') return [];
    const { name, uid = '' } = object.metadata;
    const before = this.lives.get(name);
    if (deleted) {
      if (before?.uid === uid) before.endedMs = seenAtMs;
      return [];
    }
    if (before?.uid === uid) return [];
    this.checks += 1;
    this.remember(name, { uid, sinceMs: seenAtMs });
    const livedMs = before?.endedMs === undefined ? 0 : before.endedMs - before.sinceMs;
    if (livedMs <= INTENT_ENDS_MS) return [];
    const problem = `came back under its name, after it had lived for ${Math.round(livedMs / 1000)} s`;
    return [{ check: 'pod names', subject: name, problem }];
  }

  private remember(name: string, life: Life): void {
    this.lives.delete(name);
    this.lives.set(name, life);
    const [oldest] = this.lives.keys();
    if (this.lives.size > MOST_REMEMBERED && oldest !== undefined) this.lives.delete(oldest);
  }
}
