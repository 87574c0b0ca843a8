import { isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../shared/index.js';
import type { ReplicaSetDraft, RolloutDraft } from '../draft.js';
import { isObserved, lastingAvailable } from '../draft.js';
import { OWN_RULES } from '../deployment.options.js';
import { lastServedRevision, revisionOf } from '../revision.js';
import { REVISION } from '../annotations.js';
import { renderDuration } from './durations.js';
import { APPROVE, STEP } from './names.js';
import type { PolicyOutcome, Standing } from './outcome.js';
import { lookAgainAfter } from './outcome.js';
import { resolvePodCount } from './pod-counts.js';
import type { RolloutPolicy } from './policy.js';
import { isGood, replacesOthers } from './revisions.js';
import type { Step } from './steps.js';
import { renderStep } from './steps.js';
import { WAITING_FOR_APPROVAL, WAITING_IN_STEP, normal, tellEvent, tellProgress, warning } from './tell.js';

export interface Approval {
  /** Counted from 1. */
  readonly step: number;
  /** What the annotation said. */
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
}

/** Where in its steps a rollout is: kept on its ReplicaSet, so that another template begins at the first. */
interface Position {
  /** Steps that are behind it. */
  readonly done: number;
  /** When the last of them was over, RFC 3339. */
  readonly since: string;
  readonly approvals: readonly Approval[];
}

/** What holds a rollout at its step. */
type Wait =
  | { readonly for: 'time'; readonly untilMs: number }
  | { readonly for: 'approval' }
  | { readonly for: 'pods' };

/** What of a policy says where a rollout waits. */
type SteppedPolicy = Pick<RolloutPolicy, 'fastTrack' | 'steps'>;

/** How far the rollout may go in this pass. */
export interface Stage {
  readonly position: Position;
  /** How large the new ReplicaSet may become. */
  readonly cap: number;
  /** Undefined once all steps are behind it. */
  readonly wait?: Wait;
  readonly isMoved: boolean;
  /** The approval that has been used. */
  readonly used?: Approval;
}

/**
 * Where the steps hold the rollout; `undefined` where it goes on without: nothing is replaced, it began without steps, or it goes
 * to a revision that was good before, or that was there a few revisions ago.
 */
export function decideStage(
  draft: RolloutDraft,
  policy: SteppedPolicy,
  latest: ReplicaSetDraft | undefined,
): Stage | undefined {
  const position = positionOf(draft, policy, latest);
  return position && advance(draft, policy.steps, latest, position);
}

/** How large the new ReplicaSet may be while the rollout stays where it is. */
export function capInPlace(
  draft: RolloutDraft,
  policy: SteppedPolicy,
  latest: ReplicaSetDraft | undefined,
): number | undefined {
  const position = positionOf(draft, policy, latest);
  return position && capAt(policy.steps, position.done, draft.replicas);
}

function positionOf(
  draft: RolloutDraft,
  { fastTrack, steps }: SteppedPolicy,
  latest: ReplicaSetDraft | undefined,
): Position | undefined {
  if (steps.length === 0 || draft.replicas === 0 || !replacesOthers(draft, latest)) return undefined;
  if (latest && (isGood(latest) || isFastTracked(draft, latest, fastTrack))) return undefined;
  const begun = latest && isNewest(draft, latest) ? readPosition(latest) : undefined;
  if (latest && !begun && isNewest(draft, latest) && latest.replicas > 0) return undefined;
  return begun ?? { done: 0, since: draft.now, approvals: [] };
}

/** Whether it goes back to one of so many revisions before. Its annotations remember which it was, after it has a new number too. */
function isFastTracked(draft: RolloutDraft, latest: ReplicaSetDraft, revisions: number): boolean {
  if (revisions === 0 || !latest.observed) return false;
  const others = draft.living.filter((set) => set !== latest).map(revisionOf);
  const newest = others.reduce((most, each) => (each > most ? each : most), 0n);
  const own = revisionOf(latest);
  const was = own > newest ? lastServedRevision(latest.annotations) : own;
  return was !== undefined && was > 0n && newest - was <= BigInt(revisions);
}

function advance(
  draft: RolloutDraft,
  steps: readonly Step[],
  latest: ReplicaSetDraft | undefined,
  before: Position,
): Stage {
  let position: Position = before;
  let wait: Wait | undefined;
  let used: Approval | undefined;
  for (let step = steps[position.done]; step; step = steps[position.done]) {
    const by: string | undefined = used ? undefined : draft.annotations[APPROVE];
    wait = waitOf(step, draft, latest, position, by);
    if (wait) break;
    const done = position.done + 1;
    if (step.kind === 'approve' && by !== undefined) used = { step: done, by, at: draft.now };
    const approvals = used ? [...before.approvals, used] : before.approvals;
    position = { done, since: draft.now, approvals };
  }
  return {
    position,
    cap: capAt(steps, position.done, draft.replicas),
    wait,
    used,
    isMoved: position !== before,
  };
}

function waitOf(
  step: Step,
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
  { since }: Position,
  approval: string | undefined,
): Wait | undefined {
  if (step.kind === 'approve') return approval === undefined ? { for: 'approval' } : undefined;
  if (step.kind === 'wait') {
    const untilMs = (parseTimeMs(since) ?? 0) + step.ms;
    return draft.nowMs >= untilMs ? undefined : { for: 'time', untilMs };
  }
  const size = resolvePodCount(step.size, draft.replicas);
  return latest && latest.replicas >= size && isWhole(latest, size) ? undefined : { for: 'pods' };
}

/** Whether so many of its pods are there and available. */
function isWhole(latest: ReplicaSetDraft, size: number): boolean {
  return size === 0 || (isObserved(latest) && lastingAvailable(latest, OWN_RULES) >= size);
}

/** The size of the step that it is at, or of the last one before. After all steps: everything. */
function capAt(steps: readonly Step[], done: number, replicas: number): number {
  if (done >= steps.length) return replicas;
  const size = steps.slice(0, done + 1).findLast((step) => step.kind === 'size');
  return size ? resolvePodCount(size.size, replicas) : 0;
}

/** Notes where the rollout is, and tells what it waits for. */
export function tellStage(
  draft: RolloutDraft,
  steps: readonly Step[],
  stage: Stage,
  latest: ReplicaSetDraft | undefined,
  outcome: PolicyOutcome,
): void {
  const { position, used, wait } = stage;
  if (used) {
    const { [APPROVE]: _used, ...others } = draft.annotations;
    draft.replaceMetadata(others);
    const note = normal('RolloutApproved', `Step ${used.step} of ${steps.length} was approved by ${used.by}`);
    tellEvent(draft, outcome, note);
  }
  if (latest) writePosition(draft, latest, position);
  if (stage.isMoved) {
    const note = position.done < steps.length ? stepName(steps, position.done) : 'all steps are done';
    tellEvent(draft, outcome, normal('RolloutStep', `Rollout of ${latest?.name ?? draft.name}: ${note}`));
  }
  if (!wait || wait.for === 'pods' || !latest || !isWhole(latest, latest.replicas)) return;
  tellWait(draft, stepName(steps, position.done), wait, outcome);
}

function tellWait(
  draft: RolloutDraft,
  name: string,
  wait: Exclude<Wait, { for: 'pods' }>,
  outcome: PolicyOutcome,
): void {
  const standing = standingOf(draft, name, wait);
  outcome.standing = standing;
  outcome.isWaiting = true;
  if (wait.for === 'time') lookAgainAfter(outcome, wait.untilMs - draft.nowMs);
  const reason = wait.for === 'time' ? WAITING_IN_STEP : WAITING_FOR_APPROVAL;
  const message =
    wait.for === 'time' ? `${name}: until ${timeOf(wait.untilMs)}` : `${name}: waits for an approval`;
  if (wait.for === 'approval' && draft.observed.status?.conditions?.every((each) => each.message !== message))
    tellEvent(draft, outcome, normal(WAITING_FOR_APPROVAL, message));
  tellProgress(draft, { status: 'Unknown', reason, message });
}

function standingOf(draft: RolloutDraft, name: string, wait: Exclude<Wait, { for: 'pods' }>): Standing {
  if (wait.for === 'time') {
    const left = renderDuration(wait.untilMs - draft.nowMs);
    return {
      code: 'waits-in-step',
      sentence: `it is at ${name.toLowerCase()}, until ${timeOf(wait.untilMs)} (${left})`,
      unblockedBy: [`${left} without a failure`, 'or go back with rollkeeper abort'],
      endsByItself: true,
    };
  }
  const { name: deployment, namespace = 'default' } = draft.observed.metadata;
  return {
    code: 'waits-for-approval',
    sentence: `it is at ${name.toLowerCase()}, and waits for an approval`,
    unblockedBy: [
      `rollkeeper promote ${namespace}/${deployment}, or kubectl annotate deployment ${deployment} ${APPROVE}=WHO`,
      `or go back with rollkeeper abort ${namespace}/${deployment}`,
    ],
    endsByItself: false,
  };
}

/** An approval that nothing waits for must not approve of what comes later. */
export function dropNeedlessApproval(
  draft: RolloutDraft,
  stage: Stage | undefined,
  outcome: PolicyOutcome,
): void {
  const { [APPROVE]: by, ...others } = draft.annotations;
  if (by === undefined || stage?.used) return;
  draft.replaceMetadata(others);
  // The rest of an approval that was used, and of which only the step was noted.
  if (stage?.position.approvals.at(-1)?.by === by) return;
  tellEvent(
    draft,
    outcome,
    warning('ApprovalNotNeeded', `Nothing waited for the approval of ${by}: it is dropped`),
  );
}

function stepName(steps: readonly Step[], done: number): string {
  const step = steps[done];
  return `Step ${done + 1} of ${steps.length} (${step ? renderStep(step) : ''})`;
}

function timeOf(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Whether no other has a newer revision, so that the position on it is that of this rollout. */
function isNewest(draft: RolloutDraft, latest: ReplicaSetDraft): boolean {
  return draft.living.every((set) => set === latest || revisionOf(set) < revisionOf(latest));
}

function writePosition(draft: RolloutDraft, latest: ReplicaSetDraft, position: Position): void {
  const { approvals, done, since } = position;
  const revision = latest.annotations[REVISION] ?? '';
  const text = stringifyJson({ revision, done, since, ...(approvals.length > 0 && { approvals }) });
  draft.annotate(latest, { ...latest.annotations, [STEP]: text });
}

/** `undefined` where there is none of this revision, or none that can be read. */
function readPosition({ annotations }: ReplicaSetDraft): Position | undefined {
  const text = annotations[STEP];
  if (text === undefined) return undefined;
  try {
    const read: unknown = parseJson(text);
    if (!isJsonObject(read) || read['revision'] !== annotations[REVISION]) return undefined;
    const { approvals = [], done, since } = read;
    if (!Number.isInteger(done) || typeof since !== 'string' || !Array.isArray(approvals)) return undefined;
    return { done: Math.max(0, done as number), since, approvals: approvals as Approval[] };
  } catch {
    return undefined;
  }
}
