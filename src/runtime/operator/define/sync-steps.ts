import type { Decided, DecideStep, ReconcileRequest, ReconcileResult } from '../../controller/index.js';

/** The result of carrying out a plan. */
export interface ActResult<Seen> extends ReconcileResult {
  /**
   * The current state, if `act` found that what was seen is outdated, after a conflict for example. `decide` runs again
   * with it.
   */
  readonly seen?: NoInfer<Seen> | undefined;
}

/** A sync in three steps, of which the one in the middle is pure. */
export interface SyncSteps<Seen, Plan, Context> {
  /** Reads all that the decision rests on. Undefined: there is nothing to decide, and the sync is at its end. */
  observe(request: ReconcileRequest, context: Context): Promise<Seen | undefined> | Seen | undefined;
  /** Pure: from what was seen to all that follows. Waits for nothing, writes nothing. */
  decide(seen: Seen): Decided<Plan>;
  /** Carries it out. */
  act(plan: Plan, context: Context): Promise<ActResult<Seen> | void>;
}

/**
 * Takes a sync of three steps to its end.
 * @param beforeWrites see `SyncAccess`. @default nothing to wait for
 */
export async function runSteps<Seen, Plan, Context>(
  steps: SyncSteps<Seen, Plan, Context>,
  request: ReconcileRequest,
  context: Context,
  decide: DecideStep,
  beforeWrites?: () => Promise<void>,
): Promise<ReconcileResult> {
  let seen: Seen | undefined = await steps.observe(request, context);
  while (seen !== undefined) {
    const current = seen;
    const { decision, plan } = decide(() => steps.decide(current));
    if (decision.changes) await beforeWrites?.();
    const end = (await steps.act(plan, context)) ?? {};
    if (end.seen === undefined) return end;
    seen = end.seen;
  }
  return {};
}

/** For tests, and where nothing observes. */
export const decideUnobserved: DecideStep = (decide) => decide();
