import type { Pass } from '../common/pass.js';
import type { CheckDefinition } from './check-definition.js';
import type { ParsedCheck } from './check-definition.js';
import type { HostRule } from './check-hosts.js';
import type { CheckRun } from './check-results.js';
import type { CheckSubject } from './common/subject.js';

/** A measurement that is due. */
export interface DueCheck {
  readonly definition: CheckDefinition;
  /** The run of the check so far. */
  readonly run: CheckRun;
  readonly subject: CheckSubject;
}

/** The things outside that the checks of a pass need. */
export interface CheckNeeds {
  /** The ReplicaSet whose annotation has the results. */
  readonly replicaSet: string;
  readonly due: readonly DueCheck[];
  /** The ConfigMap with the definitions, which are not known to the pass. */
  readonly definitions?: string;
}

/** The effect of checks on a pass. */
export interface CheckOutcome {
  /** The definitions to read and the checks to measure. */
  checks?: CheckNeeds;
  /** A check that is measured all the way through lets no version take over. */
  isHeldByCheck?: boolean;
  /** The check that is taken for passed next, by a plan. */
  givenCheck?: string;
  /** Why a check holds the rollout, where it will not end by itself. */
  checkProblem?: CheckProblem;
}

export interface CheckProblem {
  readonly kind: 'failed' | 'unknown' | 'impossible';
  readonly message: string;
}

/** The definitions of a ConfigMap, or why there are none. */
export type CheckDefinitions =
  | { readonly find: (name: string) => ParsedCheck | undefined; readonly problem?: undefined }
  | { readonly problem: string };

/**
 * The knowledge of checks.
 *
 * - `known`: the definitions have been read, and requests may go to these hosts
 * - `unread`: by the recorded results alone
 * - `off`: none is measured here
 * - `given`: a plan, which takes these for passed, by {@link givenKey}
 */
export type ChecksContext =
  | { readonly kind: 'known'; readonly definitions: CheckDefinitions; readonly hosts: readonly HostRule[] }
  | { readonly kind: 'unread' }
  | { readonly kind: 'off' }
  | { readonly kind: 'given'; readonly passed: ReadonlySet<string> };

/** A pass whose rollout may be under checks. */
export type CheckPass<Fields> = Pass<Fields> & {
  readonly checks: ChecksContext;
  readonly outcome: CheckOutcome;
};

export function givenKey({ check, step }: Pick<CheckRun, 'check' | 'step'>): string {
  return step === undefined ? check : `${check} at step ${step}`;
}
