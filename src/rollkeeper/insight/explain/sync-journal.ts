import { trace } from '@opentelemetry/api';
import { apiStatusOf, isConflict } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage, isCancellation } from '@rollkeeper/machinery/errors';
import type { BegunSync, Decision, SyncFollower, SyncObserver } from '@rollkeeper/runtime';
import { decideOutcome } from '@rollkeeper/runtime/controller';
import type { DecisionLog, LoggedDecision } from './decision-log.js';
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
      ...(error === undefined ? {} : toldOf(error)),
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

/** A sync that meets a conflict is tried at once, and one that is put off comes back by itself: neither has failed. */
function toldOf(error: unknown): Pick<LoggedDecision, 'error' | 'setback'> {
  if (isLostRace(error)) return { setback: 'another write came first; tried again' };
  const outcome = decideOutcome({ ended: 'failed', error });
  return outcome.action === 'come-back'
    ? { setback: `put off, and tried again: ${outcome.why}` }
    : { error: errorMessage(error) };
}

/** Whether a write met a newer object. A field that another manager owns is no race: the next attempt meets the same. */
function isLostRace(error: unknown): boolean {
  const { details } = apiStatusOf(error) ?? {};
  return (
    isConflict(error) && !(details?.causes ?? []).some(({ reason }) => reason === 'FieldManagerConflict')
  );
}

function sentenceOf({ branch, summary }: Decision): string {
  return summary === '' ? branch : `${branch}: ${summary}`;
}
