import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { available } from '../../kubernetes/replica-set-draft.js';
import { isRollingUpdate } from '../../kubernetes/limits.js';
import { workloadOf } from '../../kubernetes/workload.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import { REVISION } from '../../kubernetes/annotations.js';
import { APPROVE, RETRY } from '../common/names.js';
import type { Standing } from '../common/outcome.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { CheckFields } from '../checks/settings.js';
import type { FastTrackFields, StepFields } from './settings.js';
import { byWhom, requesterOf } from '../common/requester.js';
import { isGood, isNewest, replacesOthers } from '../common/revisions.js';
import type { Stage, StepGates } from './stages.js';
import { isFastTracked } from './stages.js';
import type { Step } from './steps.js';
import { stepName } from './steps.js';
import { WAITING_FOR_CHECK, normal, tellEvent, tellProgress, asClause } from '../common/tell.js';
import { newRun } from '../checks/add-measurement.js';
import type { CheckPass, ChecksContext } from '../checks/check-needs.js';
import type { CheckRun } from '../checks/check-results.js';
import { findRun, putRun, readResults, withResults } from '../checks/check-results.js';
import type { Gate, GateView, PodsOfStep } from '../checks/gate.js';
import { sideName } from '../experiment/experiment-sets.js';
import { gateOf, isInForce, isOverridable, stateOf } from '../checks/gate.js';

type GatePass = CheckPass<CheckFields & StepFields & FastTrackFields>;

/** The checks of a rollout in one pass. */
export interface Gates extends StepGates {
  /** The checks that were asked about, and all that are measured throughout. */
  readonly asked: ReadonlyMap<string, Gate>;
  /** The checks that are measured throughout. */
  readonly throughout: readonly Gate[];
}

/** `undefined` where there are no checks, or nothing that they are about: the first version, or one that is good. */
export function openGates(pass: GatePass, latest: ReplicaSetDraft | undefined): Gates | undefined {
  const { checks: context, draft, policy } = pass;
  const hasChecks = policy.checks.length > 0 || policy.steps.some((step) => checksOfStep(step).length > 0);
  if (!hasChecks || !isUnderChecks(draft, policy, latest)) return undefined;
  const view: GateView = {
    ...{ draft, latest, context, configMap: policy.checksFrom },
    podsOfStep: (step) => podsOfStep(draft, latest, policy.steps, step),
  };
  const asked = new Map<string, Gate>();
  const ask = (check: string, step?: number): Gate => {
    const gate = gateOf(view, { check, step });
    asked.set(`${step ?? ''} ${check}`, gate);
    return gate;
  };
  // Before there is a pod to measure only what cannot be measured at all holds the rollout.
  const isServing = latest !== undefined && available(latest, OWN_RULES) > 0;
  const throughout = policy.checks
    .map((check) => ask(check))
    .map((gate) => (isServing || gate.due === undefined ? gate : { ...gate, due: undefined }));
  for (const gate of throughout) asked.set(` ${gate.check}`, gate);
  const blocked = throughout.find(isOverridable);
  // One that is asked for while a check blocks all steps is about that check.
  const takesApproval =
    blocked !== undefined && draft.annotations[APPROVE] !== undefined && isInForce(draft, latest);
  const isPending = throughout.some(({ due }) => due !== undefined);
  return {
    asked,
    throughout,
    blocked: takesApproval ? undefined : blocked,
    isPending,
    takesApproval,
    at: ask,
  };
}

/** The checks that are measured at a step. */
function checksOfStep(step: Step): readonly string[] {
  if (step.kind === 'experiment') return step.checks;
  return step.kind === 'check' ? [step.check] : [];
}

/** The checks of an experiment are about its own pods. */
function podsOfStep(
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
  steps: readonly Step[],
  step: number,
): PodsOfStep | undefined {
  const found = steps[step - 1];
  if (!latest || found?.kind !== 'experiment') return undefined;
  const nameOf = (side: 'baseline' | 'canary'): PodsOfStep['canary'] => {
    const { hash, replicaSet, service } = sideName(draft, latest, step, side);
    return { hash, replicaSet, ...(found.hasServices && { service }) };
  };
  return { canary: nameOf('canary'), ...(found.baseline > 0 && { baseline: nameOf('baseline') }) };
}

function isUnderChecks(
  draft: RolloutDraft,
  { fastTrack }: FastTrackFields,
  latest: ReplicaSetDraft | undefined,
): boolean {
  if (draft.replicas === 0 || (latest && isGood(latest))) return false;
  // A way back waits for nothing.
  if (latest && isFastTracked(draft, latest, fastTrack)) return false;
  if (replacesOthers(draft, latest)) return true;
  return latest !== undefined && isNewest(draft, latest) && readResults(latest.annotations) !== undefined;
}

/** How large the new ReplicaSet may become: while a check lets no step be taken, no larger than it is. */
export function capUnder(
  gates: Gates | undefined,
  cap: number | undefined,
  { draft, latest }: { readonly draft: RolloutDraft; readonly latest: ReplicaSetDraft | undefined },
): number | undefined {
  if (!gates?.blocked || !mayHold(draft, latest)) return cap;
  return Math.min(cap ?? draft.replicas, latest?.replicas ?? 0);
}

/** Whether there is anything to hold between two sizes. */
function mayHold(draft: RolloutDraft, latest: ReplicaSetDraft | undefined): boolean {
  return isRollingUpdate(draft.spec) && replacesOthers(draft, latest);
}

interface Told {
  readonly stage: Stage | undefined;
  /** After the steps have been played. */
  readonly latest: ReplicaSetDraft | undefined;
}

/**
 * Notes that the rollout is under checks, which checks a person has overridden, and what is due; and reports what the rollout
 * waits for.
 * @returns whether it has used an approval
 */
export function tellGates(pass: GatePass, gates: Gates, { latest, stage }: Told): boolean {
  const { checks: context, draft, outcome, policy } = pass;
  if (latest) begin(draft, latest);
  const isUsed = latest !== undefined && override(pass, gates, { latest, stage });
  const held = gates.blocked ?? (stage?.wait?.for === 'check' ? stage.wait.gate : undefined);
  if (held) tellHeld(pass, held, { latest, stage });
  noteNeeds(outcome, gates, { latest, context, configMap: policy.checksFrom });
  return isUsed;
}

/** Notes on a version that begins that it is under checks, so that this is known before the first measurement. */
function begin(draft: RolloutDraft, latest: ReplicaSetDraft): void {
  const revision = latest.annotations[REVISION];
  if (revision === undefined || !replacesOthers(draft, latest) || readResults(latest.annotations)) return;
  draft.annotate(latest, withResults(latest.annotations, { revision, runs: [] }));
}

function override(
  { draft, outcome, policy }: GatePass,
  { takesApproval, throughout }: Gates,
  { latest, stage }: Told & { readonly latest: ReplicaSetDraft },
): boolean {
  const { used } = stage ?? {};
  const step = used && policy.steps[used.step - 1];
  if (used && step)
    for (const check of checksOfStep(step))
      noteOverride(draft, latest, { check, step: used.step, by: used.by });
  const by = requesterOf(draft.annotations, APPROVE) ?? '';
  const { [APPROVE]: _used, ...others } = draft.annotations;
  if (!takesApproval) return false;
  const overridden = throughout.filter(isOverridable);
  for (const { check } of overridden) noteOverride(draft, latest, { check, by });
  draft.replaceMetadata(others);
  const names = overridden.map(({ check }) => check).join(', ');
  tellEvent(
    draft,
    outcome,
    normal(
      'RolloutApproved',
      `The rollout goes on without check ${names}, as approved${byWhom(by, draft.names)}`,
    ),
  );
  return true;
}

function noteOverride(
  draft: RolloutDraft,
  latest: ReplicaSetDraft,
  { by, ...which }: Pick<CheckRun, 'check' | 'step'> & { readonly by: string },
): void {
  const revision = latest.annotations[REVISION] ?? '';
  const results = readResults(latest.annotations) ?? { revision, runs: [] };
  const run = findRun(results, which) ?? newRun(which, draft.now);
  draft.annotate(
    latest,
    withResults(latest.annotations, putRun(results, { ...run, state: 'overridden', by })),
  );
}

function noteNeeds(
  outcome: GatePass['outcome'],
  { asked }: Gates,
  {
    configMap,
    context,
    latest,
  }: {
    readonly latest: ReplicaSetDraft | undefined;
    readonly context: ChecksContext;
    readonly configMap: string;
  },
): void {
  const all = [...asked.values()];
  for (const { lookAgainAfterMs } of all) lookAgainAfter(outcome, lookAgainAfterMs);
  const isOpen = all.some(({ status }) => status !== 'passed' && status !== 'failed');
  const definitions = context.kind === 'unread' && isOpen ? configMap : undefined;
  const due = all.flatMap((gate) => gate.due ?? []);
  if (definitions === undefined && (due.length === 0 || !latest)) return;
  outcome.checks = { replicaSet: latest?.name ?? '', due, ...(definitions !== undefined && { definitions }) };
}

function tellHeld({ draft, outcome, policy }: GatePass, gate: Gate, { latest, stage }: Told): void {
  const name = nameOf(policy.steps, gate, stage);
  const message = `${name}: ${stateOf(gate)}`;
  outcome.standing = standingOf(draft, gate, message);
  outcome.givenCheck = gate.given;
  if (isOverridable(gate)) outcome.checkProblem = { kind: gate.status, message };
  // A rollout that is complete in Kubernetes' words stays so.
  if (!mayHold(draft, latest)) return;
  outcome.isWaiting = true;
  tellProgress(draft, { status: 'Unknown', reason: WAITING_FOR_CHECK, message });
}

function nameOf(steps: readonly Step[], { check, step }: Gate, stage: Stage | undefined): string {
  return step !== undefined && stage ? stepName(steps, step - 1) : `Check ${check}`;
}

function standingOf(draft: RolloutDraft, gate: Gate, message: string): Standing {
  const { resource, target: key } = workloadOf(draft.observed);
  const without = `rollkeeper promote ${key} goes on without the check`;
  const back = `or roll back with rollkeeper abort ${key}`;
  const sentence = asClause(message);
  if (gate.status === 'failed') {
    const again = `rollkeeper retry ${key}, or kubectl annotate ${resource} ${draft.name} ${RETRY}=WHO, measures it again`;
    return { code: 'check-failed', sentence, unblockedBy: [again, without, back], endsByItself: false };
  }
  const isMeasured = gate.status === 'measuring' || gate.status === 'unknown';
  const passes = isMeasured ? 'the check passes' : 'what the message names is put right';
  const unblockedBy = gate.status === 'measuring' ? [passes, back] : [passes, without, back];
  return { code: 'waits-for-check', sentence, unblockedBy, endsByItself: isMeasured };
}
