import type { Gateway, HTTPRoute, Listener, ParentRef } from './gateway-api.ts';
import { isHostOf } from './match-request.ts';

/** Why something is not as its writer wants it, in the words of the Gateway API. */
export interface Problem {
  /** One of the specification's reasons. */
  readonly reason: string;
  readonly message: string;
}

/** The outcome of attaching a route to one of the Gateways that it names. */
export interface Attachment {
  readonly parentRef: ParentRef;
  readonly gateway: Gateway;
  /** None if there is a problem. */
  readonly listeners: readonly Listener[];
  readonly problem?: Problem;
}

/** The attachments of a route to these Gateways; other parents belong to other implementations. */
export function attach(route: HTTPRoute, gateways: readonly Gateway[]): readonly Attachment[] {
  return (route.spec.parentRefs ?? []).flatMap((parentRef) => {
    const gateway = gateways.find((candidate) => isParent(parentRef, route, candidate));
    return gateway ? [attachTo(gateway, parentRef, route)] : [];
  });
}

function isParent(ref: ParentRef, route: HTTPRoute, { metadata }: Gateway): boolean {
  const { kind = 'Gateway', name, namespace = route.metadata.namespace } = ref;
  return kind === 'Gateway' && name === metadata.name && namespace === metadata.namespace;
}

function attachTo(gateway: Gateway, parentRef: ParentRef, route: HTTPRoute): Attachment {
  const refused = (reason: string, message: string): Attachment => ({
    ...{ gateway, parentRef, listeners: [] },
    problem: { reason, message },
  });
  const { port, sectionName } = parentRef;
  const named = gateway.spec.listeners.filter(
    (listener) =>
      listener.name === (sectionName ?? listener.name) && listener.port === (port ?? listener.port),
  );
  if (named.length === 0) return refused('NoMatchingParent', 'The Gateway has no such listener');
  const allowed = named.filter((listener) => allows(listener, gateway, route));
  if (allowed.length === 0)
    return refused('NotAllowedByListeners', `Routes of ${route.metadata.namespace} may not attach`);
  const listeners = allowed.filter((listener) => hasCommonHost(listener, route));
  if (listeners.length === 0)
    return refused('NoMatchingListenerHostname', 'No listener has a host of the route');
  return { gateway, listeners, parentRef };
}

function allows({ allowedRoutes }: Listener, gateway: Gateway, route: HTTPRoute): boolean {
  const isSame = route.metadata.namespace === gateway.metadata.namespace;
  return isSame || allowedRoutes?.namespaces?.from === 'All';
}

function hasCommonHost({ hostname }: Listener, { spec: { hostnames = [] } }: HTTPRoute): boolean {
  if (hostname === undefined || hostnames.length === 0) return true;
  return hostnames.some((each) => isHostOf(hostname, each) || isHostOf(each, hostname));
}
