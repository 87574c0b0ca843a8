/** A change of one route, with the version that it replaces. */
export interface RouteWrite {
  readonly kind: 'httproute' | 'grpcroute';
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** The changes of single places, in order. */
  readonly changes: readonly RouteChange[];
  /** Before any ReplicaSet changes; otherwise after all of them and the Services. */
  readonly isFirst: boolean;
}

/** An operation of a JSON patch (RFC 6902). */
export type RouteChange =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };
