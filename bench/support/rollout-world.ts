import type { Deployment } from '../../src/base/kubernetes/index.js';

export interface RolloutWorldOptions {
  /** The built program's folder. */
  readonly dist: string;
  readonly replicas: number;
  /** More arguments of `rollkeeper controller`. */
  readonly controllerArgs: readonly string[];
}

/** Where a benchmark rolls Deployments of `default` out. */
export interface RolloutWorld {
  create(deployment: Deployment): Promise<void>;
  setImage(name: string, image: string): Promise<void>;
  /** As far as is known here. */
  deployments(): readonly Deployment[];
  /** From now on, every call of a replica to the API takes so much longer. */
  slowDown(ms: number): void;
  stop(): Promise<void>;
}

export function isRolledOut({ metadata, spec, status }: Deployment, image: string): boolean {
  return (
    spec.template.spec?.containers[0]?.image === image &&
    status?.observedGeneration === metadata.generation &&
    [status?.replicas, status?.updatedReplicas, status?.availableReplicas].every(
      (count) => count === spec.replicas,
    )
  );
}
