import type { RolloutView } from '@rollkeeper/controllers/deployment';
import type { CauseCode, Finding } from '../explain/index.js';
import { explainDeployment } from '../explain/index.js';

/** The cause that holds a rollout up, in the words of `rollkeeper explain`. */
export interface RolloutCause {
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
export function rolloutCause(view: RolloutView, orWaits: boolean): RolloutCause | undefined {
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
