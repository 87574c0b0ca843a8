import { counted } from '@rollkeeper/machinery/text';
import { parseDuration, renderDuration } from '@rollkeeper/machinery/clock';
import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, DeploymentCondition } from '@rollkeeper/machinery/kubernetes';
import { classifyPod, parseTimeMs } from '../../../shared/index.js';
import { newCondition } from '../../kubernetes/conditions.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { stuckCause } from '../../kubernetes/timeout-cause.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import { NO_DURATION, type PolicySettings } from '../common/settings.js';
import { isRolledOut, normal, progressReason, tellEvent, warning } from '../common/tell.js';
import { DEGRADED } from './degraded-condition.js';

export interface DegradedFields {
  /**
   * How long fewer pods than asked for may be available once the rollout is over, milliseconds.
   * @default for any time, as in Kubernetes
   */
  readonly progressAfterMs?: number;
}

export const DEGRADED_SETTINGS: PolicySettings<DegradedFields> = {
  none: {},
  readers: {
    'progress-after': (text, fields) => {
      const ms = parseDuration(text);
      if (!ms) return NO_DURATION;
      fields.progressAfterMs = ms;
      return undefined;
    },
  },
};

/** Reason of the condition while pods are missing, and of the Event when they are back. */
const AVAILABILITY_LOST = 'AvailabilityLost';
const AVAILABILITY_RESTORED = 'AvailabilityRestored';

type Condition = DeepReadonly<DeploymentCondition>;

/**
 * A Deployment that loses pods after its rollout has to get them back in time: Kubernetes' progress deadline is over then,
 * and nothing else reports it.
 */
export const DEGRADED_POLICY: Policy<Pass<DegradedFields>> = {
  conclude: (pass) => {
    const { draft, isDeleted, policy } = pass;
    if (isDeleted || draft.spec.paused) return;
    const before = findCondition(draft.status.conditions, DEGRADED);
    const afterMs = policy.progressAfterMs;
    const next = afterMs === undefined ? undefined : decideCondition(pass, afterMs, before);
    if (next === before) return;
    put(draft, next);
    if (next?.status === before?.status) return;
    const message = next?.message ?? '';
    if (next?.status === 'True') tellEvent(draft, pass.outcome, warning(DEGRADED, message));
    if (next?.status === 'False') tellEvent(draft, pass.outcome, normal(AVAILABILITY_RESTORED, message));
  },
};

/** The time of the loss is kept in the condition itself, which is Unknown until the time is over: any replica goes on. */
function decideCondition(
  pass: Pass<DegradedFields>,
  afterMs: number,
  before: Condition | undefined,
): Condition | undefined {
  const { draft, outcome } = pass;
  const isOver = isRolloutOver(draft);
  const missing = draft.replicas - (draft.status.availableReplicas ?? 0);
  if (before?.status === 'True') {
    if (missing <= 0 && isOver) return restored(draft);
    return isSameCount(draft) ? before : { ...before, ...lost(pass, afterMs) };
  }
  if (missing <= 0 || !isOver) return before?.status === 'False' ? before : undefined;
  if (before?.status !== 'Unknown') {
    lookAgainAfter(outcome, afterMs);
    const message = `Fewer pods are available than it asks for; it is degraded if that lasts for ${renderDuration(afterMs)}`;
    return fresh(draft, { status: 'Unknown', reason: AVAILABILITY_LOST, message });
  }
  const leftMs = (parseTimeMs(before.lastTransitionTime) ?? draft.nowMs) + afterMs - draft.nowMs;
  if (leftMs <= 0) return fresh(draft, lost(pass, afterMs));
  lookAgainAfter(outcome, leftMs);
  return before;
}

/** Once a rollout is over, its condition stays as it is while pods are lost. Without a deadline there is no condition. */
function isRolloutOver(draft: RolloutDraft): boolean {
  const reason = progressReason(draft);
  if (reason !== undefined) return isRolledOut(reason);
  const { replicas = 0, updatedReplicas = 0 } = draft.status;
  return replicas === updatedReplicas;
}

/** A changed cause alone, as in a crash loop, is no reason to write. */
function isSameCount({ observed, status }: RolloutDraft): boolean {
  return (observed.status?.availableReplicas ?? 0) === (status.availableReplicas ?? 0);
}

/** `2 of 3 pods are available, and it has been fewer than asked for longer than 10m: 1 of 3 pods: CrashLoopBackOff (…)` */
function lost(
  { draft, podsOf }: Pass<DegradedFields>,
  afterMs: number,
): { readonly status: 'True'; readonly reason: string; readonly message: string } {
  const latest = latestOf(draft, draft.living);
  const pods = latest
    ? podsOf(latest).map((pod) => classifyPod(pod, latest.minReadySeconds, draft.nowMs))
    : [];
  const cause = latest && stuckCause(latest, pods, 'pods');
  const available = draft.status.availableReplicas ?? 0;
  const are = draft.replicas === 1 ? 'is' : 'are';
  const sentence = `${available} of ${counted(draft.replicas, 'pod')} ${are} available, and fewer than asked for have been for longer than ${renderDuration(afterMs)}`;
  const message = cause === undefined ? sentence : `${sentence}: ${cause}`;
  return { status: 'True', reason: AVAILABILITY_LOST, message };
}

function restored(draft: RolloutDraft): Condition {
  const message = `${counted(draft.replicas, 'pod')} ${draft.replicas === 1 ? 'is' : 'are'} available again`;
  return fresh(draft, { status: 'False', reason: AVAILABILITY_RESTORED, message });
}

function fresh(draft: RolloutDraft, fields: Parameters<typeof newCondition>[1]): Condition {
  return { ...newCondition('Progressing', fields, draft.now), type: DEGRADED };
}

function put(draft: RolloutDraft, condition: Condition | undefined): void {
  const conditions = draft.status.conditions ?? [];
  const others = conditions.filter(({ type }) => type !== DEGRADED);
  draft.setStatus({ ...draft.status, conditions: condition ? [...others, condition] : others });
}
