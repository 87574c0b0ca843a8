import { parseTimeMs, POD_TEMPLATE_HASH } from '../../../shared/index.js';
import { REVISION } from '../../kubernetes/annotations.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { isNewest } from '../common/revisions.js';
import { stableBeside } from '../common/stable-beside.js';
import { CHECK_NOT_POSSIBLE, POLICY_CONDITION } from '../common/tell.js';
import type { CheckDefinition } from './check-definition.js';
import { refusedHost } from './refused-host.js';
import type { ChecksContext, DueCheck } from './check-needs.js';
import { givenKey } from './check-needs.js';
import type { CheckRun } from './check-results.js';
import { findRun, hasVerdict, readResults } from './check-results.js';
import { newRun } from './add-measurement.js';
import type { CheckSubject } from './common/subject.js';

/**
 * How far a check is. `measuring` has no verdict yet, `unknown` has had a measurement without one, and one that is `impossible` cannot
 * be measured before a person has changed something.
 */
export interface Gate {
  readonly check: string;
  readonly step?: number;
  readonly status: 'passed' | 'measuring' | 'unknown' | 'failed' | 'impossible';
  /** Why it is not passed, for people. */
  readonly why?: string;
  /** Whether there has been a verdict that was good. */
  readonly isSeen: boolean;
  /** To be measured now. */
  readonly due?: DueCheck;
  /** When to look again, unless something happens before. */
  readonly lookAgainAfterMs?: number;
  /** For a plan. */
  readonly given?: string;
}

/** A person changes a ConfigMap, which is not watched. */
const LOOK_AT_CONFIG_MAP_EVERY_MS = 30_000;
/** Its own write brings the revision; this covers a watch that misses it. */
const REVISION_COMES_WITHIN_MS = 1000;

export interface GateView {
  readonly draft: RolloutDraft;
  readonly latest: ReplicaSetDraft | undefined;
  readonly context: ChecksContext;
  /** The name of the ConfigMap. */
  readonly configMap: string;
  /** The pods that a step is about, if they are others than those of the two versions. */
  readonly podsOfStep?: (step: number) => PodsOfStep | undefined;
}

/** Pods of both versions that only one step is about. */
export interface PodsOfStep {
  readonly canary: Pick<CheckSubject, 'replicaSet' | 'hash' | 'service'>;
  readonly baseline?: Pick<CheckSubject, 'replicaSet' | 'hash' | 'service'>;
}

type Which = Pick<CheckRun, 'check' | 'step'>;

export function gateOf(view: GateView, which: Which): Gate {
  const { context, latest } = view;
  const named = { check: which.check, ...(which.step !== undefined && { step: which.step }) };
  if (context.kind === 'given') {
    const given = givenKey(which);
    return { ...named, status: context.passed.has(given) ? 'passed' : 'measuring', isSeen: true, given };
  }
  const isCurrent = latest !== undefined && isNewest(view.draft, latest);
  const run = isCurrent ? findRun(readResults(latest.annotations), which) : undefined;
  if (run?.state === 'passed' || run?.state === 'overridden')
    return { ...named, status: 'passed', isSeen: true };
  const isSeen = run !== undefined && hasVerdict(run);
  if (run?.state === 'failed') return { ...named, status: 'failed', why: run.why ?? 'it failed', isSeen };
  if (context.kind === 'unread')
    return { ...named, ...(toldProblem(view.draft, which) ?? progressOf(run)), isSeen };
  const defined = definitionOf(view, context, which.check);
  if ('problem' in defined)
    return {
      ...{ ...named, status: 'impossible', why: defined.problem, isSeen },
      lookAgainAfterMs: LOOK_AT_CONFIG_MAP_EVERY_MS,
    };
  return { ...named, ...progressOf(run), isSeen, ...dueOf(view, { run, which, definition: defined.check }) };
}

type OverridableGate = Gate & { readonly status: 'failed' | 'unknown' | 'impossible' };

/** Whether a person may continue without it: it will not simply pass. */
export function isOverridable(gate: Gate): gate is OverridableGate {
  const { status } = gate;
  return status === 'failed' || status === 'unknown' || status === 'impossible';
}

/** Whether the ReplicaSet is that of the revision in force, under which results are recorded. */
export function isInForce(
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
): latest is ReplicaSetDraft {
  const revision = latest?.annotations[REVISION];
  return (
    latest?.observed !== undefined &&
    revision !== undefined &&
    revision === draft.observed.metadata.annotations?.[REVISION]
  );
}

const CANNOT_BE_MEASURED = 'cannot be measured: ';

/** The problem that a pass has reported which knew the definitions. */
function toldProblem({ observed }: RolloutDraft, { check }: Which): Pick<Gate, 'status' | 'why'> | undefined {
  const told = observed.status?.conditions?.find(({ type }) => type === POLICY_CONDITION);
  const [name = '', why] = told?.message?.split(CANNOT_BE_MEASURED, 2) ?? [];
  const isAbout =
    told?.reason === CHECK_NOT_POSSIBLE && name.toLowerCase().includes(`check ${check.toLowerCase()}`);
  return isAbout && why !== undefined ? { status: 'impossible', why } : undefined;
}

/** The state of a check, for people. */
export function stateOf({ given, status, why = '' }: Gate): string {
  if (given !== undefined) return 'taken for passed';
  if (status === 'measuring') return 'waits for the check to pass';
  if (status === 'failed') return `failed: ${why}`;
  return status === 'unknown' ? `unknown: ${why}` : `${CANNOT_BE_MEASURED}${why}`;
}

function progressOf(run: CheckRun | undefined): Pick<Gate, 'status' | 'why'> {
  return run && run.unknown > 0 && run.mode !== 'observe'
    ? { status: 'unknown', why: run.why ?? 'no verdict' }
    : { status: 'measuring' };
}

function definitionOf(
  { configMap }: GateView,
  context: Exclude<ChecksContext, { kind: 'unread' | 'given' }>,
  check: string,
): { readonly check: CheckDefinition } | { readonly problem: string } {
  if (context.kind === 'off')
    return { problem: 'no checks are measured: start the controller with --rollout-checks' };
  const { definitions, hosts } = context;
  if (definitions.problem !== undefined) return { problem: definitions.problem };
  const parsed = definitions.find(check);
  const where = `key ${check} of ConfigMap ${configMap}`;
  if (!parsed) return { problem: `there is no ${where}` };
  if ('problem' in parsed) return { problem: `${where}: ${parsed.problem}` };
  const { check: definition } = parsed;
  const problem = refusedHost(definition, hosts);
  return problem === undefined ? parsed : { problem: `${where}: ${problem}` };
}

interface Measurable {
  readonly run: CheckRun | undefined;
  readonly which: Which;
  readonly definition: CheckDefinition;
}

function dueOf(
  view: GateView,
  { definition, run, which }: Measurable,
): Pick<Gate, 'due' | 'lookAgainAfterMs'> {
  const { draft, latest, podsOfStep } = view;
  if (!isInForce(draft, latest)) return { lookAgainAfterMs: REVISION_COMES_WITHIN_MS };
  const current = run ?? newRun(which, draft.now);
  const leftMs = (parseTimeMs(current.next) ?? 0) - draft.nowMs;
  if (leftMs > 0) return { lookAgainAfterMs: leftMs };
  return { due: { definition, run: current, subject: subjectOf(draft, latest, which, podsOfStep) } };
}

function subjectOf(
  draft: RolloutDraft,
  latest: ReplicaSetDraft,
  { check, step }: Which,
  podsOfStep: GateView['podsOfStep'],
): CheckSubject {
  const { name, namespace = 'default' } = draft.observed.metadata;
  const stable = stableBeside(draft, latest);
  const pods = step === undefined ? undefined : podsOfStep?.(step);
  return {
    check,
    namespace,
    name,
    ...versionOf(latest),
    ...pods?.canary,
    ...(stable && { stable: { ...versionOf(stable), ...pods?.baseline } }),
    ...(step !== undefined && { step }),
  };
}

function versionOf({ annotations, labels, name }: ReplicaSetDraft) {
  return { revision: annotations[REVISION] ?? '', replicaSet: name, hash: labels[POD_TEMPLATE_HASH] ?? '' };
}
