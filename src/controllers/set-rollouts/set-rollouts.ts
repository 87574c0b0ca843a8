import type {
  ControllerDefinition,
  Decided,
  Kind,
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
  SyncSteps,
} from '@rollkeeper/runtime';
import { Pod, defineController, own, unlessGone } from '@rollkeeper/runtime';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type {
  CheckDefinitions,
  ChecksContext,
  HostRule,
  Problem,
  RolloutChecksOptions,
} from '../deployment/index.js';
import {
  CheckMeasuring,
  POLICY_CONDITION,
  RolloutCheckMeter,
  SET_ROLLOUT,
  STRATEGY_NOT_OURS,
  asksForRequest,
  lastManagerOfTemplate,
  mayUseChecks,
  namespaceDefaults,
  readDefinitions,
  trustInNames,
  watchNamespaceDefaults,
} from '../deployment/index.js';
import { ControllerRevision, readJson } from '../shared/index.js';
import type { SetPlan, StrategyChange } from './apply-set.js';
import { applySetPlan } from './apply-set.js';
import { asRollout } from './as-rollout.js';
import { asksForSetPolicies } from './asks-for-policies.js';
import type { DecidedSet, SetContext } from './decide-set.js';
import { decideSet } from './decide-set.js';
import { readKeptState } from './kept-state.js';
import { StrategiesOfOthers, leftUnnoted } from './left-unnoted.js';
import { isHeldHere, ownerOfField } from './partition-owner.js';
import type { SetKind, SetMove } from './set-kind.js';
import type { SetNodes } from './set-nodes.js';
import { setNodes } from './set-nodes.js';
import type { SetObject, SetView } from './set-view.js';

export interface SetRolloutsOptions {
  /** Measures the checks of rollouts (docs/ROLLOUTS.md). @default none are measured */
  readonly checks?: RolloutChecksOptions;
}

const WORKERS = 4;

type ReadableSet = DeepReadonly<SetObject>;

/** The controller that rolls the sets of a kind out by policies, beside their own controller. */
export function createSetRollouts(
  name: string,
  of: SetKind,
  { checks }: SetRolloutsOptions,
): ControllerDefinition {
  const kind: Kind<SetObject> = of.kind;
  return defineController<SetObject, SeenSet, PlannedSet>(
    { name, for: kind, workers: WORKERS, serviceAccount: 'deployment-controller', perNamespace: true },
    ({ clock, informers }) => {
      const nodes = of.isPerNode ? setNodes(informers, kind) : undefined;
      return {
        ...stepsOf({
          of,
          clock,
          defaultsOf: namespaceDefaults(informers),
          ofOthers: new StrategiesOfOthers(),
          ...(nodes && { nodes }),
          ...(checks && {
            measuring: new CheckMeasuring(new RolloutCheckMeter(clock, checks), WORKERS),
            checkHosts: checks.hosts ?? [],
          }),
        }),
        owns: [own(Pod, { selected: true }), own(ControllerRevision, { selected: true })],
        watches: [watchNamespaceDefaults(kind), ...(nodes ? [nodes.watched] : [])],
      };
    },
  );
}

interface Dependencies {
  readonly of: SetKind;
  readonly clock: Clock;
  readonly defaultsOf: ReturnType<typeof namespaceDefaults>;
  readonly ofOthers: StrategiesOfOthers;
  /** @default the pods of its sets are for any node */
  readonly nodes?: SetNodes;
  readonly measuring?: CheckMeasuring;
  readonly checkHosts?: readonly HostRule[];
}

type Context = ReconcileContext<SetObject>;

interface AskedSet {
  readonly as: 'asked';
  /** False: its controller has not observed its latest form, so that nothing but a hold may be written. */
  readonly isObserved: boolean;
  readonly of: SetKind;
  readonly set: ReadableSet;
  readonly view: SetView;
  readonly context: SetContext;
}

/** A set that asks for policies, or did. */
type SeenSet = LeftSet | AskedSet;

interface LeftSet {
  readonly as: 'left';
  readonly of: SetKind;
  readonly set: ReadableSet;
  /** @default nothing is to be given back */
  readonly strategy?: StrategyChange;
}

interface PlannedSet {
  readonly plan: SetPlan;
  readonly seen: SeenSet;
  readonly decided?: DecidedSet;
}

function stepsOf(dependencies: Dependencies): SyncSteps<SeenSet, PlannedSet, Context> {
  return {
    observe: (request: ReconcileRequest, context) => observe(request, context, dependencies),
    decide: (seen) => (seen.as === 'left' ? decideToLeave(seen) : decide(seen)),
    act: (planned, context) => act(planned, context, dependencies),
  };
}

async function observe(
  { key }: ReconcileRequest,
  context: Context,
  dependencies: Dependencies,
): Promise<SeenSet | undefined> {
  const { client, object: set, owned, signal } = context;
  const { of, ofOthers } = dependencies;
  if (!set || set.metadata.deletionTimestamp !== undefined) {
    ofOthers.forget(key);
    return undefined;
  }
  const { annotations, namespace = '' } = set.metadata;
  if (!asksForSetPolicies(annotations))
    return annotations?.[SET_ROLLOUT] === undefined
      ? observeUnnoted(set, context, dependencies)
      : observeLeft(set, of, context);
  ofOthers.forget(key);
  const nowMs = dependencies.clock.now();
  const nodes = dependencies.nodes?.read() ?? 'refused';
  // A pod may be on a node that should not have it.
  if (nodes === 'starting') return undefined;
  const parts = {
    ...{ set, revisions: owned(ControllerRevision), pods: owned(Pod) },
    ...(nodes !== 'refused' && { nodes }),
  };
  const isObserved = of.isObserved(parts);
  const isHeld = readKeptState(set.metadata).original !== undefined;
  if (!isObserved && !(isHeld && of.isRevisionKnown(parts))) return undefined;
  const view = of.view(parts, nowMs);
  const namespaceAnnotations = dependencies.defaultsOf(namespace);
  const names = asksForRequest(annotations ?? {}) ? await trustInNames(client, signal) : undefined;
  const isNew = (readKeptState(set.metadata).status.observedGeneration ?? 0) < (set.metadata.generation ?? 0);
  const live = isNew && isObserved ? await readLive(set, of, context) : undefined;
  const manager = live && lastManagerOfTemplate(live.metadata.managedFields);
  const strategyProblem = of.strategyProblem?.(set);
  const known: SetContext = {
    nowMs,
    // The note of it may have been removed by hand.
    original: live && isHeldHere(live, of.heldBy) ? of.usual : of.original(set),
    checks: await checksOf({ set, view, nowMs, namespaceAnnotations }, context, dependencies),
    ...(namespaceAnnotations && { namespaceAnnotations }),
    ...(names && { names }),
    ...(manager !== undefined && { templateManager: manager }),
    ...(strategyProblem !== undefined && { strategyProblem }),
  };
  const seen = { as: 'asked', isObserved, of, set, view, context: known } as const;
  const problem = mayMove(seen) ? ownerProblem(of, live ?? (await readLive(set, of, context))) : undefined;
  return problem ? { ...seen, context: { ...known, problem } } : seen;
}

/** The strategy that it had is given back, unless another tool has one for it. */
async function observeLeft(set: ReadableSet, of: SetKind, context: Context): Promise<LeftSet> {
  const strategy = of.giveBack(set, readJson(readKeptState(set.metadata).original));
  const isTheirs = strategy && ownerProblem(of, await readLive(set, of, context)) !== undefined;
  return { as: 'left', of, set, ...(strategy && !isTheirs && { strategy }) };
}

/** Nothing shows that it asked for policies but the field itself, whose writer the API knows. */
async function observeUnnoted(
  set: ReadableSet,
  context: Context,
  { of, ofOthers }: Dependencies,
): Promise<LeftSet | undefined> {
  if (!ofOthers.mayBeLeft(set, of)) return undefined;
  const live = await readLive(set, of, context);
  const strategy = leftUnnoted(of, set, live);
  if (strategy) return { as: 'left', of, set, strategy };
  ofOthers.note(set);
  return undefined;
}

async function readLive(
  { metadata }: ReadableSet,
  { kind }: SetKind,
  { client, signal }: Context,
): Promise<SetObject | undefined> {
  return (await unlessGone(client.get<SetObject>(kind, metadata, { signal }))) ?? undefined;
}

/** Whether the strategy would be written, or could not be before. */
function mayMove(seen: AskedSet): boolean {
  const { conditions } = readKeptState(seen.set.metadata).status;
  const told = conditions?.find(({ type }) => type === POLICY_CONDITION);
  return told?.reason === STRATEGY_NOT_OURS || decide(seen).plan.plan.strategy !== undefined;
}

function ownerProblem({ heldBy }: SetKind, live: SetObject | undefined): Problem | undefined {
  const owner = live && ownerOfField(live, heldBy);
  if (owner === undefined) return undefined;
  return {
    reason: STRATEGY_NOT_OURS,
    message: `${owner} also writes ${heldBy.join('.')}, by which the rollout is held: remove the field from what it applies`,
  };
}

interface CheckedSet {
  readonly set: ReadableSet;
  readonly view: SetView;
  readonly nowMs: number;
  readonly namespaceAnnotations: Readonly<Record<string, string>> | undefined;
}

/** Definitions are read where a check is open, and not watched. */
async function checksOf(
  { namespaceAnnotations, nowMs, set, view }: CheckedSet,
  { client, signal }: Context,
  { checkHosts: hosts }: Dependencies,
): Promise<ChecksContext> {
  if (!hosts) return { kind: 'off' };
  const { annotations, namespace = '' } = set.metadata;
  if (!mayUseChecks(annotations, namespaceAnnotations)) return { kind: 'unread' };
  const unread = {
    ...{ nowMs, original: '', checks: { kind: 'unread' as const } },
    ...(namespaceAnnotations && { namespaceAnnotations }),
  };
  const name = decideSet(view, unread).checks?.definitions;
  if (name === undefined) return { kind: 'unread' };
  const definitions: CheckDefinitions = await readDefinitions(client, { namespace, name }, signal);
  return { kind: 'known', definitions, hosts };
}

function decide(seen: AskedSet): Decided<PlannedSet> & { plan: PlannedSet } {
  const { context, isObserved, of, set, view } = seen;
  const decided = decideSet(view, context);
  const { notes, revisionChanges, setChanges, template } = decided;
  const isOurs = context.problem === undefined && context.strategyProblem === undefined;
  const move = isOurs ? of.move(set, view, decided) : { replace: [], summary: '' };
  if (!isObserved) return decideToHold(seen, move);
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
function decideToHold(
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

/** Nothing is moved before there is a note of the value that it had: a process that dies in between would leave it moved for ever. */
function onceNoted(strategy: StrategyChange, { metadata }: ReadableSet): StrategyChange {
  const isNoted = readKeptState(metadata).original !== undefined;
  return { ...strategy, isFirst: strategy.isFirst && isNoted };
}

/** No policy is asked for any more: the set gets back the strategy that it had. */
function decideToLeave(seen: LeftSet): Decided<PlannedSet> {
  const { of, set, strategy } = seen;
  const isNoted = set.metadata.annotations?.[SET_ROLLOUT] !== undefined;
  const setChanges = isNoted ? { [SET_ROLLOUT]: undefined } : {};
  const plan: SetPlan = {
    ...{ kind: of.kind, set, revisionChanges: [], setChanges },
    ...{ notes: [], replace: [] },
    // First of all: without the note it would not be known that there is something to give back.
    ...(strategy && { strategy: { ...strategy, isFirst: true } }),
  };
  const summary = strategy
    ? `the update strategy that it had is given back: ${stringifyJson(strategy.fields)}`
    : '';
  return { decision: { branch: 'set-left', summary, changes: strategy !== undefined }, plan: { plan, seen } };
}

async function act(
  { decided, plan, seen }: PlannedSet,
  context: Context,
  { clock, measuring }: Dependencies,
): Promise<ReconcileResult> {
  await applySetPlan(plan, context);
  const { checks, recheckAfterMs } = decided ?? {};
  const result = recheckAfterMs === undefined ? {} : { requeueAfterMs: recheckAfterMs };
  if (!measuring || !checks || checks.due.length === 0 || seen.as !== 'asked') return result;
  const replicaSet = asRollout(seen.view).replicaSets.find(
    ({ metadata }) => metadata.name === checks.replicaSet,
  );
  if (!replicaSet) return result;
  const { client, events, signal } = context;
  const { lookAgainAfterMs } = await measuring.measure(checks.due, replicaSet, {
    ...{ client, signal, holder: ControllerRevision },
    tell: (note) => events.record(seen.set, note),
    nowMs: () => clock.now(),
  });
  return { requeueAfterMs: Math.min(recheckAfterMs ?? Infinity, lookAgainAfterMs) };
}
