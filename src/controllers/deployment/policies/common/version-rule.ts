import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { RolloutLimits } from '../../kubernetes/rollout-limits.js';
import type { FailedTemplate } from './failed-templates.js';
import type { PolicyDecision } from './pass.js';

/** The rollout to the version that is asked for. */
export interface RolloutInForce {
  /** Its ReplicaSet before the pass. */
  readonly before: ReplicaSetDraft | undefined;
  /** The hash of its template. */
  readonly current: string;
  readonly failures: readonly FailedTemplate[];
}

export interface VersionChoice extends PolicyDecision {
  /** The version that is asked for may not run. @default it may, now or later */
  readonly isWithheld?: true;
}

/** The part of one policy in the choice of the version that runs, and of how far it runs. */
export interface VersionRule<P> {
  /**
   * Called first, also with changes of the Deployment that a policy makes by itself.
   * @param before the ReplicaSet of the version that is asked for
   * @returns whether the pass ends here, because what follows builds on this write
   */
  readonly prepare?: (pass: P, before: ReplicaSetDraft | undefined) => boolean;
  /** Limits for any version. */
  readonly limit?: (pass: P, rollout: RolloutInForce) => RolloutLimits;
  /** The limits while the rollout is paused, or a rollback is requested: no rule chooses then. */
  readonly limitAtRest?: (pass: P, latest: ReplicaSetDraft | undefined) => RolloutLimits;
  /** @returns undefined if the rules behind it choose */
  readonly choose?: (pass: P, rollout: RolloutInForce) => VersionChoice | undefined;
  /** Called if a rule withholds the version that is asked for. */
  readonly withhold?: (pass: P) => void;
  /** Called after the syncs if the version that is asked for was free to run. The rules behind it have been called. */
  readonly conclude?: (pass: P, latest: ReplicaSetDraft | undefined) => void;
}
