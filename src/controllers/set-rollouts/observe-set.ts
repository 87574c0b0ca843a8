import type {
  CheckDefinitions,
  ChecksContext,
  HostRule,
  Problem,
  namespaceDefaults,
} from '../deployment/index.js';
import {
  POLICY_CONDITION,
  SET_ROLLOUT,
  STRATEGY_NOT_OURS,
  asksForRequest,
  lastManagerOfTemplate,
  mayUseChecks,
  readDefinitions,
  trustInNames,
} from '../deployment/index.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext, ReconcileRequest } from '@rollkeeper/runtime';
import { Pod, unlessGone } from '@rollkeeper/runtime';
import { ControllerRevision, readJson } from '../shared/index.js';
import { asksForSetPolicies } from './asks-for-policies.js';
import type { SetContext } from './decide-set.js';
import { decideSet } from './decide-set.js';
import { readKeptState } from './kept-state.js';
import type { StrategiesOfOthers } from './left-unnoted.js';
import { leftUnnoted } from './left-unnoted.js';
import { isHeldHere, ownerOfField } from './partition-owner.js';
import type { AskedSet, LeftSet, SeenSet } from './plan-set.js';
import { planAsked } from './plan-set.js';
import type { SetKind } from './set-kind.js';
import type { SetNodes } from './set-nodes.js';
import type { SetObject, SetView } from './set-view.js';

type Context = ReconcileContext<SetObject>;

type ReadableSet = DeepReadonly<SetObject>;

/** The sources of a pass besides its context. */
export interface SetSources {
  readonly of: SetKind;
  readonly clock: Clock;
  readonly defaultsOf: ReturnType<typeof namespaceDefaults>;
  readonly ofOthers: StrategiesOfOthers;
  /** @default the pods of its sets are for any node */
  readonly nodes?: SetNodes;
  /** The hosts that checks may ask. @default checks are not measured */
  readonly checkHosts?: readonly HostRule[];
}

/** Observes a set and what its decisions need. Undefined: there is nothing to decide now. */
export async function observeSet(
  { key }: ReconcileRequest,
  context: Context,
  sources: SetSources,
): Promise<SeenSet | undefined> {
  const { client, object: set, owned, signal } = context;
  const { of, ofOthers } = sources;
  if (!set || set.metadata.deletionTimestamp !== undefined) {
    ofOthers.forget(key);
    return undefined;
  }
  const { annotations, namespace = '' } = set.metadata;
  if (!asksForSetPolicies(annotations))
    return annotations?.[SET_ROLLOUT] === undefined
      ? observeUnnoted(set, context, sources)
      : observeLeft(set, of, context);
  ofOthers.forget(key);
  const nowMs = sources.clock.now();
  const nodes = sources.nodes?.read() ?? 'refused';
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
  const namespaceAnnotations = sources.defaultsOf(namespace);
  const names = asksForRequest(annotations ?? {}) ? await trustInNames(client, signal) : undefined;
  const isNew = (readKeptState(set.metadata).status.observedGeneration ?? 0) < (set.metadata.generation ?? 0);
  const live = isNew && isObserved ? await readLive(set, of, context) : undefined;
  const manager = live && lastManagerOfTemplate(live.metadata.managedFields);
  const strategyProblem = of.strategyProblem?.(set);
  const known: SetContext = {
    nowMs,
    // The note of it may have been removed by hand.
    original: live && isHeldHere(live, of.heldBy) ? of.usual : of.original(set),
    checks: await checksOf({ set, view, nowMs, namespaceAnnotations }, context, sources),
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
  { of, ofOthers }: SetSources,
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
  return told?.reason === STRATEGY_NOT_OURS || planAsked(seen).plan.plan.strategy !== undefined;
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
  { checkHosts: hosts }: SetSources,
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
