/**
 * Deliberate differences from Kubernetes 1.36, one switch per reason (docs/CONTROLLERS.md has the arithmetic). All are
 * on in production; with all off a pass has the same result as the genuine controller's, to compare it with recordings.
 */
export interface RolloutRules {
  /**
   * Pods count as available only if that is certain, and scaling takes unavailable ones first, so that the floor holds.
   * Off: the status of a ReplicaSet counts even if it is outdated, and only sizes are distributed.
   */
  readonly floor: boolean;
  /**
   * A scaling event ends once it has been executed. Off: a single active ReplicaSet that already has the new size, and
   * several active ones of a Recreate, keep the old total in their annotation, so each sync detects a new scaling event
   * and the rollout is stuck (https://github.com/kubernetes/kubernetes/pull/138840).
   */
  readonly scalingEnds: boolean;
  /**
   * A surge never makes more room than a rollout can use, and sums are exact. Off: scaling in the middle of a rollout
   * fills any surge, sums wrap around as int32, and others' size annotations can make a ReplicaSet grow while all have
   * to shrink.
   */
  readonly surgeCap: boolean;
  /**
   * From the second name collision on, each is reported in an Event and in the condition. Off: they are only counted.
   */
  readonly collisionsTold: boolean;
  /** The last int64 is skipped as a revision. Off: no later ReplicaSet gets a revision. */
  readonly lastRevision: boolean;
}

/** Rollkeeper's behaviour. */
export const OWN_RULES: RolloutRules = {
  floor: true,
  scalingEnds: true,
  surgeCap: true,
  collisionsTold: true,
  lastRevision: true,
};

/** The behaviour of Kubernetes 1.36. */
export const KUBERNETES_RULES: RolloutRules = {
  floor: false,
  scalingEnds: false,
  surgeCap: false,
  collisionsTold: false,
  lastRevision: false,
};
