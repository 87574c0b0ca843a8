import { onAbort } from '@rollkeeper/machinery/cancellation';
import { trace } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import type {
  Decided,
  Decision,
  Observed,
  ReconcileContext,
  ReconcileRequest,
  Reconciler,
  SyncStep,
} from '@rollkeeper/runtime/controller';
import { hasToDecide } from '@rollkeeper/runtime/controller';
import { errorMessage, hasCode, isCancellation } from '@rollkeeper/machinery/errors';
import type { DecisionLog } from './decision-log.js';
import type { RunningSyncs } from './running-syncs.js';

export interface ObservedReconcilerOptions {
  readonly controller: string;
  readonly replica: string;
  readonly log: DecisionLog;
  readonly running: RunningSyncs;
  readonly clock: Clock;
  /** The UID of the cached object of a key. @default unknown */
  readonly uidOf?: (key: string) => string | undefined;
}

/** Wraps a reconciler to record running syncs, decisions and failures. */
export class ObservedReconciler implements Reconciler {
  constructor(
    private readonly inner: Reconciler,
    private readonly options: ObservedReconcilerOptions,
  ) {}

  reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<SyncStep> {
    const { controller, running } = this.options;
    const { key } = request;
    const { signal } = context;
    const shown = running.start(controller, key);
    const actions: string[] = [];
    let uid: string | undefined;
    const look = (): void => void (uid = this.options.uidOf?.(key) ?? uid);
    look();
    // Recorded immediately: it may never end.
    const stopListening = onAbort(signal, () => {
      if (!hasCode(signal.reason, 'SYNC_TIMEOUT')) return;
      shown.overdue();
      this.note({ key, uid, actions, error: errorMessage(signal.reason) });
    });
    const end = (failure?: { readonly error: unknown }): void => {
      if (!failure) {
        if (actions.length > 0) this.note({ key, uid, actions });
      } else if (!isCancellation(failure.error) && !hasCode(signal.reason, 'SYNC_TIMEOUT'))
        this.note({ key, uid, actions, error: errorMessage(failure.error) });
      stopListening();
      shown.end();
    };
    return follow(() => this.inner.reconcile(request, context), { actions, look, end });
  }

  private note({ actions, error, key, uid }: Noted): void {
    const { clock, controller, log, replica } = this.options;
    const traceId = trace.getActiveSpan()?.spanContext().traceId;
    log.add({
      atMs: clock.now(),
      controller,
      key,
      ...(uid === undefined ? {} : { uid }),
      replica,
      actions,
      ...(error === undefined ? {} : { error }),
      ...(traceId === undefined ? {} : { traceId }),
    });
  }
}

interface Noted {
  readonly key: string;
  readonly uid: string | undefined;
  readonly actions: readonly string[];
  readonly error?: string;
}

interface FollowedSync {
  /** The decisions so far that change something. */
  readonly actions: string[];
  /** Called when a decision is about to be made: looks up its object as late as possible. */
  readonly look: () => void;
  /** Called once, however the sync ends. */
  readonly end: (failure?: { readonly error: unknown }) => void;
}

/** Follows the same steps to the end of the sync. */
async function follow(work: () => Promise<SyncStep>, sync: FollowedSync): Promise<SyncStep> {
  const step = await work().catch((error: unknown) => fail(sync, error));
  if (hasToDecide(step)) return { decide: () => followDecision(step, sync) };
  sync.end();
  return step;
}

function followDecision(observed: Observed, sync: FollowedSync): Decided {
  try {
    sync.look();
    const { apply, decision } = observed.decide();
    if (decision.changes && !decision.routine) sync.actions.push(sentenceOf(decision));
    return { decision, apply: () => follow(apply, sync) };
  } catch (error) {
    return fail(sync, error);
  }
}

function fail({ end }: FollowedSync, error: unknown): never {
  end({ error });
  throw error;
}

function sentenceOf({ branch, summary }: Decision): string {
  return summary === '' ? branch : `${branch}: ${summary}`;
}
