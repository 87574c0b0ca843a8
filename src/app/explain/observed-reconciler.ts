import { trace } from '@opentelemetry/api';
import type { Clock } from '../../base/clock/index.js';
import type {
  Decision,
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
  Reconciler,
  SyncObserver,
} from '../../kit/controller/index.js';
import { noSyncObserver } from '../../kit/controller/index.js';
import { errorMessage, hasCode, isCancellation } from '../../base/errors/index.js';
import type { DecisionLog } from './decision-log.js';
import type { RunningSyncs } from './running-syncs.js';

export interface ObservedReconcilerOptions {
  readonly controller: string;
  readonly replica: string;
  readonly log: DecisionLog;
  readonly running: RunningSyncs;
  readonly clock: Clock;
}

/** Reconciles as the one inside does, and notes what runs, what was decided, and what failed. */
export class ObservedReconciler implements Reconciler {
  constructor(
    private readonly inner: Reconciler,
    private readonly options: ObservedReconcilerOptions,
  ) {}

  async reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<ReconcileResult> {
    const { controller, running } = this.options;
    const { signal } = context;
    const sync = running.start(controller, request.key);
    const actions: string[] = [];
    // Noted at once: it may never end.
    const onAbort = (): void => {
      if (!hasCode(signal.reason, 'SYNC_TIMEOUT')) return;
      sync.overdue();
      this.note(request.key, actions, errorMessage(signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const observer = listening(context.observer ?? noSyncObserver, (decision) => {
        if (decision.changes && !decision.routine) actions.push(sentenceOf(decision));
      });
      const result = await this.inner.reconcile(request, { ...context, observer });
      if (actions.length > 0) this.note(request.key, actions);
      return result;
    } catch (error) {
      if (!isCancellation(error) && !hasCode(signal.reason, 'SYNC_TIMEOUT'))
        this.note(request.key, actions, errorMessage(error));
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      sync.end();
    }
  }

  private note(key: string, actions: readonly string[], error?: string): void {
    const { clock, controller, log, replica } = this.options;
    const traceId = trace.getActiveSpan()?.spanContext().traceId;
    log.add({
      atMs: clock.now(),
      controller,
      key,
      replica,
      actions,
      ...(error === undefined ? {} : { error }),
      ...(traceId === undefined ? {} : { traceId }),
    });
  }
}

/** The same observer, and `hear` besides. */
function listening(observer: SyncObserver, hear: (decision: Decision) => void): SyncObserver {
  return {
    found: (describe) => observer.found(describe),
    decide: (work, describe) => {
      let decision: Decision | undefined;
      const decided = observer.decide(work, (each) => (decision = describe(each)));
      hear(decision ?? describe(decided));
      return decided;
    },
  };
}

function sentenceOf({ branch, summary }: Decision): string {
  return summary === '' ? branch : `${branch}: ${summary}`;
}
