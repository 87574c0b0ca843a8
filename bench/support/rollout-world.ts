import type { Deployment } from '../../src/machinery/kubernetes/index.js';

export interface RolloutWorldOptions {
  /** The built program's folder. */
  readonly dist: string;
  readonly replicas: number;
  /** More arguments of `rollkeeper controller`. */
  readonly controllerArgs: readonly string[];
}

/** The cost of a world since it began. */
export interface Usage {
  /** CPU seconds of all replicas. */
  readonly replicas: number;
  /** CPU seconds of their Redis; where the API server keeps its objects in the same one, theirs as well. */
  readonly redis: number;
  /** CPU seconds of API server and nodes; 0 where they are no processes of their own. */
  readonly servers: number;
  /** Commands that Redis has carried out, those of scripts included. */
  readonly commands: number;
  /** Syncs of all controllers. */
  readonly syncs: number;
  /** Changes of Deployments and ReplicaSets by any client. */
  readonly writes: number;
}

/** The cluster in which a benchmark rolls out Deployments of `default`. */
export interface RolloutWorld {
  create(deployment: Deployment): Promise<void>;
  setImage(name: string, image: string): Promise<void>;
  /** As far as is known here. */
  deployments(): readonly Deployment[];
  /** From now on, every call of a replica to the API takes so much longer. */
  slowDown(ms: number): void;
  usage(): Promise<Usage>;
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
