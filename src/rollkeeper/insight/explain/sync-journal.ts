import { trace } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage, isCancellation } from '@rollkeeper/machinery/errors';
import type { BegunSync, Decision, SyncFollower, SyncObserver } from '@rollkeeper/runtime';
import type { DecisionLog } from './decision-log.js';
import type { RunningSyncs } from './running-syncs.js';

export interface SyncJournalOptions {
  readonly replica: string;
  readonly log: DecisionLog;
  readonly running: RunningSyncs;
  readonly clock: Clock;
}

/** Notes of all controllers what runs, what was decided, and what failed. */
export class SyncJournal implements SyncObserver {
  constructor(private readonly options: SyncJournalOptions) {}

  begin({ controller, key, object }: BegunSync): SyncFollower {
    const shown = this.options.running.start(controller, key);
    const actions: string[] = [];
    let uid = object()?.metadata.uid;
    let isOverdue = false;
    const note = (error?: unknown): void =>
      this.note({ controller, key, uid, actions: [...actions], ...(error !== undefined && { error }) });
    return {
      decided: (decision) => {
        // The object is looked up as late as it can be.
        uid = object()?.metadata.uid ?? uid;
        if (decision.changes && !decision.routine) actions.push(sentenceOf(decision));
      },
      // Noted at once: it may never end.
      overdue: (error) => {
        isOverdue = true;
        shown.overdue();
        note(error);
      },
      ended: (failure) => {
        shown.end();
        if (!failure) {
          if (actions.length > 0) note();
        } else if (!isOverdue && !isCancellation(failure.error)) note(failure.error);
      },
    };
  }

  private note({ actions, controller, error, key, uid }: Noted): void {
    const { clock, log, replica } = this.options;
    const traceId = trace.getActiveSpan()?.spanContext().traceId;
    log.add({
      atMs: clock.now(),
      controller,
      key,
      ...(uid === undefined ? {} : { uid }),
      replica,
      actions,
      ...(error === undefined ? {} : { error: errorMessage(error) }),
      ...(traceId === undefined ? {} : { traceId }),
    });
  }
}

interface Noted {
  readonly controller: string;
  readonly key: string;
  readonly uid: string | undefined;
  readonly actions: readonly string[];
  readonly error?: unknown;
}

function sentenceOf({ branch, summary }: Decision): string {
  return summary === '' ? branch : `${branch}: ${summary}`;
}
