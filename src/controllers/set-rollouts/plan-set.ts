import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Decided } from '@rollkeeper/runtime';
import { SET_ROLLOUT } from '../deployment/index.js';
import type { SetPlan, StrategyChange } from './apply-set.js';
import type { DecidedSet, SetContext } from './decide-set.js';
import { decideSet } from './decide-set.js';
import { readKeptState } from './kept-state.js';
import type { SetKind, SetMove } from './set-kind.js';
import type { SetObject, SetView } from './set-view.js';

type ReadableSet = DeepReadonly<SetObject>;

/** A set that asks for policies, or did, as a pass has observed it. */
export type SeenSet = LeftSet | AskedSet;

export interface AskedSet {
  readonly as: 'asked';
  /** False: its controller has not observed its latest form, so that nothing but a hold may be written. */
  readonly isObserved: boolean;
  readonly of: SetKind;
  readonly set: ReadableSet;
  readonly view: SetView;
  readonly context: SetContext;
}

export interface LeftSet {
  readonly as: 'left';
  readonly of: SetKind;
  readonly set: ReadableSet;
  /** @default nothing is to be given back */
  readonly strategy?: StrategyChange;
}

export interface PlannedSet {
  readonly plan: SetPlan;
  readonly seen: SeenSet;
  readonly decided?: DecidedSet;
}

/** Plans the writes of a pass over a set, purely. */
export function planSet(seen: SeenSet): Decided<PlannedSet> {
  return seen.as === 'left' ? planToLeave(seen) : planAsked(seen);
}

/** Plans the writes by which a set follows its policies. */
export function planAsked(seen: AskedSet): Decided<PlannedSet> & { plan: PlannedSet } {
  const { context, isObserved, of, set, view } = seen;
  const decided = decideSet(view, context);
  const { notes, revisionChanges, setChanges, template } = decided;
  const isOurs = context.problem === undefined && context.strategyProblem === undefined;
  const move = isOurs ? of.move(set, view, decided) : { replace: [], summary: '' };
  if (!isObserved) return planToHold(seen, move);
  const plan: SetPlan = {
    ...{ kind: of.kind, set, revisionChanges, setChanges, notes },
    ...(template && { template }),
    ...(move.strategy && { strategy: onceNoted(move.strategy, set) }),
    // A pod would come back from the template that is put back only once that is written.
    replace: template ? [] : move.replace,
  };
  const summary = template ? 'the template of an earlier revision is put back' : move.summary;
  return {
    decision: { branch: 'set-rollout', summary, changes: summary !== '' },
    plan: { plan, seen, decided },
  };
}

/**
 * A person may have changed the strategy in the middle of a rollout: the set is held again at once, because its own controller replaces a pod
 * when it observes the change. The rest is decided after that.
 */
function planToHold(
  seen: AskedSet,
  { strategy, summary }: SetMove,
): Decided<PlannedSet> & { plan: PlannedSet } {
  const { of, set } = seen;
  const isHold = strategy?.isFirst === true;
  const plan: SetPlan = {
    ...{ kind: of.kind, set, revisionChanges: [], setChanges: {}, notes: [], replace: [] },
    ...(isHold && { strategy }),
  };
  return {
    decision: { branch: 'set-held-again', summary: isHold ? summary : '', changes: isHold },
    plan: { plan, seen },
  };
}

/** The first move follows the note of the value before it: a process that died in between would leave the strategy moved forever. */
function onceNoted(strategy: StrategyChange, { metadata }: ReadableSet): StrategyChange {
  const isNoted = readKeptState(metadata).original !== undefined;
  return { ...strategy, isFirst: strategy.isFirst && isNoted };
}

/** No policy is asked for any more: the set gets back the strategy that it had. */
function planToLeave(seen: LeftSet): Decided<PlannedSet> {
  const { of, set, strategy } = seen;
  const isNoted = set.metadata.annotations?.[SET_ROLLOUT] !== undefined;
  const setChanges = isNoted ? { [SET_ROLLOUT]: undefined } : {};
  const plan: SetPlan = {
    ...{ kind: of.kind, set, revisionChanges: [], setChanges },
    ...{ notes: [], replace: [] },
    // The strategy is written first of all: without the note no later pass would know that there is something to give back.
    ...(strategy && { strategy: { ...strategy, isFirst: true } }),
  };
  const summary = strategy
    ? `the update strategy that it had is given back: ${stringifyJson(strategy.fields)}`
    : '';
  return { decision: { branch: 'set-left', summary, changes: strategy !== undefined }, plan: { plan, seen } };
}
