import { findCondition } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { withoutTrailing } from '@rollkeeper/machinery/text';
import type { RolloutPhase, RolloutState, RolloutView } from '@rollkeeper/controllers/deployment';
import { failureOf, replicasOf } from '@rollkeeper/controllers/deployment';
import type { CauseCode, Finding } from '../explain/index.js';
import { explainDeployment } from '../explain/index.js';

/** The state of a rollout, for people and programs. */
export interface RolloutReport {
  /** RFC 3339. */
  readonly time: string;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly phase: RolloutPhase;
  /** The reason of the Deployment's condition Progressing. */
  readonly reason?: string;
  /** Since when a policy makes the rollout wait, RFC 3339; absent if it does not wait, or the API does not say. */
  readonly since?: string;
  /** With the cause. */
  readonly message: string;
  readonly cause?: { readonly code: string; readonly summary: string };
  readonly counts: {
    /** How many are asked for. */
    readonly replicas: number;
    readonly total: number;
    readonly updated: number;
    readonly ready: number;
    readonly available: number;
  };
}

interface Described {
  readonly view: RolloutView;
  readonly state: RolloutState;
  /** Whether the ReplicaSets and pods are known, so that causes can be reported. */
  readonly isWhole: boolean;
  /** Whether this is the last that is said of it. */
  readonly isLast: boolean;
}

/** Phases in which something of the new version may be held up. */
const MAY_BE_HELD_UP: ReadonlySet<RolloutPhase> = new Set<RolloutPhase>([
  'progressing',
  'waiting-in-step',
  'waiting-for-check',
  'baking',
  'failed',
]);

export function describeRollout(described: Described): RolloutReport {
  const { state, view } = described;
  const { metadata, spec, status = {} } = view.deployment;
  const cause = causeOf(described);
  return {
    time: toRfc3339(view.nowMs),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    generation: metadata.generation ?? 0,
    phase: state.phase,
    reason: findCondition(status.conditions, 'Progressing')?.reason,
    ...('sinceMs' in state && state.sinceMs !== undefined && { since: toRfc3339(state.sinceMs) }),
    message: messageOf(described, cause),
    cause,
    counts: {
      replicas: replicasOf(spec),
      total: status.replicas ?? 0,
      updated: status.updatedReplicas ?? 0,
      ready: status.readyReplicas ?? 0,
      available: status.availableReplicas ?? 0,
    },
  };
}

function causeOf({ isLast, isWhole, state, view }: Described): RolloutReport['cause'] {
  const failure = failureOf(state);
  if (failure !== undefined) return { code: state.phase, summary: failure };
  if (!isWhole || !MAY_BE_HELD_UP.has(state.phase)) return undefined;
  return rolloutCause(view, isLast);
}

function messageOf({ state, view }: Described, cause: RolloutCause | RolloutReport['cause']): string {
  const { message, phase } = state;
  const text = withoutTrailing(message, '.');
  // A failure by a policy says why itself.
  if (failureOf(state) !== undefined) return text;
  if (cause) return `${text}: ${cause.summary}`;
  if (phase !== 'failed') return text;
  const said = findCondition(view.deployment.status?.conditions, 'Progressing')?.message;
  return said === undefined ? text : `${text}: ${said}`;
}

/** The cause that holds a rollout up, in the words of `rollkeeper explain`. */
interface RolloutCause {
  readonly code: CauseCode;
  readonly summary: string;
}

/** The causes that the phase of the rollout says itself, or that are only about the next sync. */
const NOT_TOLD: ReadonlySet<CauseCode> = new Set<CauseCode>([
  'paused',
  'deadline-exceeded',
  'next-sync',
  'replicaset-behind',
  'not-observed-yet',
  'waits-for-approval',
  'waits-in-step',
  'waits-for-check',
  'check-failed',
  'rollout-held',
  'waits-for-budget',
  'waits-for-turn',
  'waits-for-order',
  'resizes-pods',
  'failed-template',
  'rolled-back',
  'invalid-policy',
]);

/**
 * The first thing that holds the rollout up, out of the API alone.
 * @param orWaits also what time may settle, where nothing is known that it does not
 */
function rolloutCause(view: RolloutView, orWaits: boolean): RolloutCause | undefined {
  const { bakeMs: _bakeMs, wasComplete: _wasComplete, ...input } = view;
  const findings = explainDeployment(input).waitsFor.filter(({ cause }) => !NOT_TOLD.has(cause));
  const found = findings.find(isBlocked) ?? (orWaits ? findings.find(mayEnd) : undefined);
  return found && { code: found.cause, summary: found.summary };
}

function isBlocked({ severity }: Finding): boolean {
  return severity === 'blocked';
}

function mayEnd({ severity }: Finding): boolean {
  return severity === 'waits';
}
