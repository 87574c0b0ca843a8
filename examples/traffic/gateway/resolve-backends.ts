import type { Service } from 'rollkeeper';
import type { Problem } from './attach-route.ts';
import type { BackendRef, EndpointSlice, HTTPRoute, RouteRule } from './gateway-api.ts';

/** A ready pod behind a Service. */
export interface Endpoint {
  /** `namespace/name`. */
  readonly pod: string;
  readonly address: string;
  readonly port: number;
}

/** A backend that a route names: its ready endpoints, of which there may be none, or why it cannot be used. */
export interface ResolvedBackend {
  readonly endpoints: readonly Endpoint[];
  readonly problem?: Problem;
}

/** The objects that backends are resolved by. */
export interface BackendSources {
  service(key: string): Service | undefined;
  /** The slices of a Service, by its key. */
  slices(key: string): readonly EndpointSlice[];
}

/** Distinguishes the backends of all routes. */
export function backendKeyOf(route: HTTPRoute, ref: BackendRef): string {
  const { group = '', kind = 'Service', name, namespace = route.metadata.namespace, port } = ref;
  return [route.metadata.namespace, group, kind, namespace, name, port].join('/');
}

/** Every backend that a route names, copies of requests included. */
export function backendRefsOf(route: HTTPRoute): readonly BackendRef[] {
  return (route.spec.rules ?? []).flatMap((rule) => [...(rule.backendRefs ?? []), ...mirrorsOf(rule)]);
}

function mirrorsOf({ backendRefs = [], filters = [] }: RouteRule): readonly BackendRef[] {
  return [...filters, ...backendRefs.flatMap((each) => each.filters ?? [])].flatMap(
    ({ requestMirror }) => requestMirror?.backendRef ?? [],
  );
}

/** Without ReferenceGrants: a route reaches the Services of its own namespace. */
export function resolveBackend(route: HTTPRoute, ref: BackendRef, sources: BackendSources): ResolvedBackend {
  const failed = (reason: string, message: string): ResolvedBackend => ({
    endpoints: [],
    problem: { reason, message },
  });
  const { group = '', kind = 'Service', name, namespace = route.metadata.namespace, port } = ref;
  if (group !== '' || kind !== 'Service') return failed('InvalidKind', `${kind} ${name} is not a Service`);
  if (namespace !== route.metadata.namespace)
    return failed('RefNotPermitted', `Service ${namespace}/${name} is in another namespace`);
  const key = `${namespace}/${name}`;
  const service = sources.service(key);
  if (!service) return failed('BackendNotFound', `Service ${name} does not exist`);
  const servicePort = service.spec?.ports?.find((each) => each.port === port);
  if (!servicePort) return failed('BackendNotFound', `Service ${name} has no port ${port}`);
  return { endpoints: sources.slices(key).flatMap((slice) => endpointsOf(slice, servicePort.name)) };
}

function endpointsOf(
  { endpoints, metadata, ports }: EndpointSlice,
  portName: string | undefined,
): readonly Endpoint[] {
  const port = ports?.find(({ name = '' }) => name === (portName ?? ''))?.port;
  if (port === undefined) return [];
  return (endpoints ?? []).flatMap(({ addresses: [address], conditions, targetRef }) =>
    address !== undefined && conditions?.ready !== false && targetRef?.kind === 'Pod'
      ? [{ address, port, pod: `${targetRef.namespace ?? metadata.namespace}/${targetRef.name}` }]
      : [],
  );
}
