/** A change of the weights of one route, with the version that it replaces. */
export interface RouteWrite {
  readonly kind: 'httproute' | 'grpcroute';
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** The new weights. */
  readonly weights: readonly {
    /** In `spec.rules`. */
    readonly rule: number;
    /** In `backendRefs`. */
    readonly backend: number;
    readonly weight: number;
  }[];
  /** Before any ReplicaSet changes; otherwise after all of them and the Services. */
  readonly isFirst: boolean;
}
