import { renderDuration } from '@rollkeeper/machinery/clock';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { workloadOf } from '../../kubernetes/workload.js';
import { APPROVE } from '../common/names.js';
import type { Outcome, Standing } from '../common/outcome.js';
import { lookAgainAfter } from '../common/outcome.js';
import { byWhom, requesterOf } from '../common/requester.js';
import {
  WAITING_FOR_APPROVAL,
  WAITING_IN_STEP,
  normal,
  observedProgress,
  tellEvent,
  tellProgress,
  warning,
} from '../common/tell.js';
import { writePosition } from '../common/position.js';
import type { ExperimentOutcome, ExperimentWait, MissingParts } from './experiment-step.js';
import type { Stage, Wait } from './stages.js';
import { isWhole } from './stages.js';
import type { Step } from './steps.js';
import { stepName } from './steps.js';

/** A wait that its step reports. Checks and weights report their own, and a wait for pods needs no words. */
type ToldWait = Exclude<Wait, { for: 'pods' | 'check' | 'weight' }>;

/** Notes where the rollout is, and reports what it waits for. */
export function tellStage(
  draft: RolloutDraft,
  steps: readonly Step[],
  stage: Stage,
  latest: ReplicaSetDraft | undefined,
  outcome: Outcome & ExperimentOutcome,
): void {
  const { position, used, wait } = stage;
  if (used) {
    const { [APPROVE]: _used, ...others } = draft.annotations;
    draft.replaceMetadata(others);
    const by = byWhom(used.by, draft.names);
    const note = normal('RolloutApproved', `Step ${used.step} of ${steps.length} was approved${by}`);
    tellEvent(draft, outcome, note);
  }
  if (latest) writePosition(draft, latest, position);
  if (wait?.for === 'experiment') {
    if (wait.runs) outcome.experiment = wait.runs;
    if (wait.problem) outcome.experimentProblem = wait.problem;
  }
  if (stage.isMoved) {
    const note = position.done < steps.length ? stepName(steps, position.done) : 'all steps are done';
    tellEvent(draft, outcome, normal('RolloutStep', `Rollout of ${latest?.name ?? draft.name}: ${note}`));
  }
  // The gates of a check say what is said of it, and so does a rollout by weights.
  if (!wait || wait.for === 'pods' || wait.for === 'weight' || wait.for === 'check' || !latest) return;
  if (!isWhole(latest, latest.replicas)) return;
  const name = stepName(steps, position.done);
  if (!stage.isTail) return tellWait(draft, name, wait, outcome);
  if (wait.for !== 'time') return;
  outcome.standing = standingOf(draft, name, wait);
  lookAgainAfter(outcome, wait.untilMs - draft.nowMs);
}

function tellWait(draft: RolloutDraft, name: string, wait: ToldWait, outcome: Outcome): void {
  const standing = standingOf(draft, name, wait);
  outcome.standing = standing;
  outcome.isWaiting = true;
  if (wait.for === 'time') lookAgainAfter(outcome, wait.untilMs - draft.nowMs);
  if (wait.for === 'experiment') lookAgainAfter(outcome, lookAtExperimentAfterMs(wait, draft.nowMs));
  const reason = wait.for === 'approval' ? WAITING_FOR_APPROVAL : WAITING_IN_STEP;
  const message = `${name}: ${wordsOf(draft, name, wait)}`;
  if (wait.for === 'approval' && draft.observed.status?.conditions?.every((each) => each.message !== message))
    tellEvent(draft, outcome, normal(WAITING_FOR_APPROVAL, message));
  tellProgress(draft, { status: 'Unknown', reason, message });
}

/** No event reports that a pod of an experiment is available. */
const LOOK_AT_PODS_MS = 2000;
/** A person changes what keeps a Service from being made. */
const LOOK_AT_PROBLEM_MS = 30_000;

function lookAtExperimentAfterMs({ problem, untilMs }: ExperimentWait, nowMs: number): number {
  if (untilMs !== undefined) return untilMs - nowMs;
  return problem ? LOOK_AT_PROBLEM_MS : LOOK_AT_PODS_MS;
}

function wordsOf(draft: RolloutDraft, name: string, wait: ToldWait): string {
  if (wait.for === 'approval') return 'waits for an approval';
  if (wait.for === 'time') return `until ${timeOf(wait.untilMs)}`;
  if (wait.untilMs !== undefined) return `runs an experiment until ${timeOf(wait.untilMs)}`;
  if (wait.problem) return `cannot begin its experiment: ${wait.problem.message}`;
  const told = wait.missing?.isTold && observedProgress(draft)?.message;
  if (told?.startsWith(`${name}: `)) return told.slice(name.length + 2);
  const parts = partsOf(wait.missing?.isTold ? { pods: 'unknown' } : (wait.missing ?? { pods: 'unknown' }));
  return wait.runs || wait.isHeld
    ? `waits for ${parts}`
    : `${parts} were not available in time, and are removed`;
}

function partsOf({ pods, services }: MissingParts): string {
  return [
    ...(pods === undefined ? [] : [`the pods of its experiment (available: ${pods})`]),
    ...(services === undefined ? [] : [`the Services of its experiment (${services})`]),
  ].join(' and ');
}

function endOf({ isHeld, problem, runs }: ExperimentWait): string {
  if (problem) return 'what the message names is put right';
  return runs || isHeld ? 'time, and its checks' : 'another version';
}

function standingOf(draft: RolloutDraft, name: string, wait: ToldWait): Standing {
  if (wait.for === 'time') {
    const left = renderDuration(wait.untilMs - draft.nowMs);
    return {
      code: 'waits-in-step',
      sentence: `it is at ${name.toLowerCase()}, until ${timeOf(wait.untilMs)} (${left})`,
      unblockedBy: [`${left} without a failure`, 'or roll back with rollkeeper abort'],
      endsByItself: true,
    };
  }
  const { resource, target } = workloadOf(draft.observed);
  if (wait.for === 'experiment')
    return {
      // A person has to act, as for a Service that a rollout cannot move.
      code: wait.problem ? 'invalid-policy' : 'waits-in-step',
      sentence: `it is at ${name.toLowerCase()}: ${wordsOf(draft, name, wait)}`,
      unblockedBy: [endOf(wait), `or roll back with rollkeeper abort ${target}`],
      endsByItself: wait.problem === undefined && (wait.runs !== undefined || wait.isHeld === true),
    };
  return {
    code: 'waits-for-approval',
    sentence: `it is at ${name.toLowerCase()}, and waits for an approval`,
    unblockedBy: [
      `rollkeeper promote ${target}, or kubectl annotate ${resource} ${draft.name} ${APPROVE}=WHO`,
      `or roll back with rollkeeper abort ${target}`,
    ],
    endsByItself: false,
  };
}

/**
 * An approval that nothing waits for must not approve of what comes later. One of the step that the rollout is at stays while the routes
 * do not serve the share of the step before: it is used once they do.
 */
export function dropNeedlessApproval(
  draft: RolloutDraft,
  steps: readonly Step[],
  stage: Stage | undefined,
  outcome: Outcome,
): void {
  const by = requesterOf(draft.annotations, APPROVE);
  const { [APPROVE]: _dropped, ...others } = draft.annotations;
  if (by === undefined || stage?.used) return;
  if (stage?.wait?.for === 'weight' && steps[stage.position.done]?.kind === 'approve') return;
  draft.replaceMetadata(others);
  // The rest of an approval that was used, and of which only the step was noted.
  if (stage?.position.approvals.at(-1)?.by === by) return;
  tellEvent(
    draft,
    outcome,
    warning('ApprovalNotNeeded', `Nothing waited for the approval${byWhom(by, draft.names)}: it is dropped`),
  );
}

function timeOf(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
