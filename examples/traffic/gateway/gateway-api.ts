import { defineKind } from 'rollkeeper';
import type { Condition, KubernetesObject } from 'rollkeeper';

/** The group of the Gateway API. Only the fields that this gateway reads or writes are here. */
const GROUP = 'gateway.networking.k8s.io';

/** Names the implementation of the Gateways of a class. */
export interface GatewayClass extends KubernetesObject {
  readonly spec: { readonly controllerName: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}
export const GatewayClass = defineKind<GatewayClass>({
  group: GROUP,
  version: 'v1',
  kind: 'GatewayClass',
  namespaced: false,
});

export interface Listener {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  /** A host, or `*.` and a suffix. @default every host */
  readonly hostname?: string;
  /** @default routes of the Gateway's namespace */
  readonly allowedRoutes?: { readonly namespaces?: { readonly from?: 'All' | 'Same' } };
}

export interface ListenerStatus {
  readonly name: string;
  readonly attachedRoutes: number;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: string }[];
  readonly conditions: readonly Condition[];
}

/** The place where requests come in. */
export interface Gateway extends KubernetesObject {
  readonly spec: { readonly gatewayClassName: string; readonly listeners: readonly Listener[] };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly value: string }[];
    readonly conditions?: readonly Condition[];
    readonly listeners?: readonly ListenerStatus[];
  };
}
export const Gateway = defineKind<Gateway>({
  group: GROUP,
  version: 'v1',
  kind: 'Gateway',
  // The guess would be gatewaies.
  resource: 'gateways',
});

export interface ParentRef {
  readonly group?: string;
  readonly kind?: string;
  /** @default the route's */
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

export interface ValueMatch {
  readonly name: string;
  /** @default Exact */
  readonly type?: 'Exact' | 'RegularExpression';
  readonly value: string;
}

/** A request matches if all that is named here does. */
export interface RouteMatch {
  readonly path?: { readonly type?: 'Exact' | 'PathPrefix' | 'RegularExpression'; readonly value?: string };
  readonly headers?: readonly ValueMatch[];
  readonly queryParams?: readonly ValueMatch[];
  readonly method?: string;
}

export interface BackendRef {
  readonly group?: string;
  readonly kind?: string;
  /** @default the route's */
  readonly namespace?: string;
  readonly name: string;
  readonly port?: number;
}

export interface HeaderChange {
  readonly set?: readonly { readonly name: string; readonly value: string }[];
  readonly add?: readonly { readonly name: string; readonly value: string }[];
  readonly remove?: readonly string[];
}

export interface RouteFilter {
  readonly type: 'RequestHeaderModifier' | 'ResponseHeaderModifier' | 'RequestMirror';
  readonly requestHeaderModifier?: HeaderChange;
  readonly responseHeaderModifier?: HeaderChange;
  readonly requestMirror?: {
    readonly backendRef: BackendRef;
    /** The part of the requests, in percent. @default all, unless there is a fraction */
    readonly percent?: number;
    readonly fraction?: { readonly numerator: number; readonly denominator?: number };
  };
}

export interface WeightedBackendRef extends BackendRef {
  /** In proportion to the sum of the rule's. @default 1 */
  readonly weight?: number;
  readonly filters?: readonly RouteFilter[];
}

export interface RouteRule {
  readonly name?: string;
  readonly matches?: readonly RouteMatch[];
  readonly filters?: readonly RouteFilter[];
  readonly backendRefs?: readonly WeightedBackendRef[];
  /** Durations such as `1m30s`; `0s` is none. */
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
}

export interface RouteParentStatus {
  readonly parentRef: ParentRef;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

/** Says which requests go to which backends. */
export interface HTTPRoute extends KubernetesObject {
  readonly spec: {
    readonly parentRefs?: readonly ParentRef[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly RouteRule[];
  };
  readonly status?: { readonly parents: readonly RouteParentStatus[] };
}
export const HTTPRoute = defineKind<HTTPRoute>({ group: GROUP, version: 'v1', kind: 'HTTPRoute' });

/** A gRPC method: a call is a POST to `/SERVICE/METHOD`. */
export interface MethodMatch {
  /** @default Exact */
  readonly type?: 'Exact' | 'RegularExpression';
  /** @default any */
  readonly service?: string;
  /** @default any */
  readonly method?: string;
}

export interface GRPCRouteRule extends Omit<RouteRule, 'matches' | 'timeouts'> {
  readonly matches?: readonly { readonly method?: MethodMatch; readonly headers?: readonly ValueMatch[] }[];
}

/** A route of calls to backends. */
export interface GRPCRoute extends KubernetesObject {
  readonly spec: Omit<HTTPRoute['spec'], 'rules'> & { readonly rules?: readonly GRPCRouteRule[] };
  readonly status?: { readonly parents: readonly RouteParentStatus[] };
}
export const GRPCRoute = defineKind<GRPCRoute>({ group: GROUP, version: 'v1', kind: 'GRPCRoute' });

/** The addresses of a Service's pods, `discovery.k8s.io/v1`. */
export interface EndpointSlice extends KubernetesObject {
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null;
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        readonly conditions?: { readonly ready?: boolean | null };
        readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string };
      }[]
    | null;
}
export const EndpointSlice = defineKind<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
});
