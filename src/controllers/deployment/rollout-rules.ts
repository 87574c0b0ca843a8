/** Where we do better than Kubernetes 1.20, and how to have it not so. */
export interface RolloutRules {
  /**
   * Set: the arithmetic of Kubernetes 1.20 to the letter, to compare with its recordings. Unset, for real work,
   * two faults are left out:
   *
   * 1. While a ReplicaSet is still shrinking, its status reports more available pods than it will keep. 1.20 counts
   *    those on their way out, and can scale the others below the floor.
   * 2. A ReplicaSet whose size annotation is lost, while the Deployment's status is still empty, is scaled by a
   *    division by zero, to sizes like -2147483646, which the API refuses. Newer versions let it keep its size.
   */
  readonly faultsOf120: boolean;
}
