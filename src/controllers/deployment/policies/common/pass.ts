import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { PodsOf } from '../../kubernetes/recreate.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { SizeRequest } from '../../kubernetes/requested-size.js';
import type { RolloutLimits } from '../../kubernetes/rollout-limits.js';
import type { Outcome } from './outcome.js';
import type { PolicyWrites } from './policy-writes.js';
import type { Problem } from './tell.js';

/**
 * A pass under policies, as every policy knows it. A policy adds what it reads of other objects.
 * @typeParam Fields the settings that a policy reads
 */
export interface Pass<Fields = object> {
  readonly draft: RolloutDraft;
  readonly policy: Fields & {
    /** Annotations that cannot be understood. If there are any, only a version that ran before begins or grows. @default none */
    readonly unclear?: string;
  };
  readonly outcome: Outcome;
  readonly writes: PolicyWrites;
  readonly podsOf: PodsOf;
  /** Whether the Deployment is under any policy: by a setting, by a request, or by a limit for all Deployments. */
  readonly isAsked: boolean;
  /** Whether the Deployment is being deleted. */
  readonly isDeleted: boolean;
}

/** The decision of a policy on a pass, before the syncs of Kubernetes' controller are played. */
export interface PolicyDecision {
  /** Added to those of the policies before it. */
  readonly limits?: RolloutLimits;
  /** The version that the syncs are played for. @default the one that the Deployment asks for */
  readonly runs?: ReplicaSetDraft;
  /** Neither the policies behind it nor the syncs have a part in this pass. */
  readonly ends?: boolean;
  /**
   * Notes and reports the result once the syncs have been played. The policies behind it have done so before.
   * @returns a size that it asks for, if it asks for one
   */
  readonly afterwards?: () => SizeRequest | void;
}

/** One policy of rollouts. All of its functions are pure but for the draft and the outcome of the pass. */
export interface Policy<P> {
  /** Whether it has a part in the pass of a Deployment that no setting puts under a policy. @default false */
  readonly concerns?: (pass: P) => boolean;
  /** Called before any policy decides, also for a Deployment that is being deleted. */
  readonly prepare?: (pass: P) => void;
  /** Not called for a Deployment that is being deleted. @returns undefined if it asks for nothing */
  readonly decide?: (pass: P) => PolicyDecision | undefined;
  /** Called last, also for a Deployment that is being deleted, or that does not ask for the policy any more. */
  readonly conclude?: (pass: P) => void;
  /** Why the policy cannot be followed. @returns undefined if it can, or is not asked for */
  readonly trouble?: (pass: P) => Problem | undefined;
}
