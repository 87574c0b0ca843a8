import type { Clock, Condition } from 'rollkeeper';
import { setCondition } from 'rollkeeper';
import type { Attachment, Problem } from './attach-route.ts';
import type { Gateway, GatewayClass, HTTPRoute, ListenerStatus, ParentRef } from './gateway-api.ts';

/** The writer of a status, and the time. */
export interface Writer {
  /** `spec.controllerName` of the GatewayClasses. */
  readonly controllerName: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** A condition but for its generation and its time. */
type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** True with a reason, or False with that of the problem. */
function verdict(type: string, reason: string, problem: Problem | undefined): Verdict {
  return problem ? { type, status: 'False', ...problem } : { type, status: 'True', reason, message: '' };
}

/** The status of a route: one entry for each of our parents, and those of other implementations as they are. */
export function routeStatus(
  route: HTTPRoute,
  attachments: readonly Attachment[],
  unresolved: Problem | undefined,
  { clock, controllerName }: Writer,
): NonNullable<HTTPRoute['status']> {
  const before = route.status?.parents ?? [];
  const ours = attachments.map(({ parentRef, problem }) => {
    const entry = before.find(
      (each) => each.controllerName === controllerName && isSameParent(each.parentRef, parentRef),
    );
    const verdicts = [
      verdict('Accepted', 'Accepted', problem),
      verdict('ResolvedRefs', 'ResolvedRefs', unresolved),
    ];
    return { parentRef, controllerName, conditions: conditionsOf(route, verdicts, entry?.conditions, clock) };
  });
  return { parents: [...before.filter((each) => each.controllerName !== controllerName), ...ours] };
}

/** The status of a Gateway that listens at an address, or that is not programmed. */
export function gatewayStatus(
  gateway: Gateway,
  { address, attached, problem }: { address: string; attached: Attached; problem?: Problem },
  { clock }: Writer,
): NonNullable<Gateway['status']> {
  const { conditions: before, listeners: listenersBefore = [] } = gateway.status ?? {};
  const programmed = verdict('Programmed', 'Programmed', problem);
  const accepted = verdict('Accepted', 'Accepted', undefined);
  const listeners = gateway.spec.listeners.map(({ name }): ListenerStatus => {
    const old = listenersBefore.find((each) => each.name === name);
    const verdicts = [accepted, programmed, verdict('ResolvedRefs', 'ResolvedRefs', undefined)];
    return {
      name,
      attachedRoutes: attached(gateway, name),
      supportedKinds: ['HTTPRoute', 'GRPCRoute'].map((kind) => ({
        ...{ group: 'gateway.networking.k8s.io', kind },
      })),
      conditions: conditionsOf(gateway, verdicts, old?.conditions, clock),
    };
  });
  return {
    addresses: problem ? [] : [{ type: 'IPAddress', value: address }],
    conditions: conditionsOf(gateway, [accepted, programmed], before, clock),
    listeners,
  };
}

/** The number of routes that are attached to a listener. */
export type Attached = (gateway: Gateway, listener: string) => number;

/** The status of a class of ours. */
export function classStatus(
  gatewayClass: GatewayClass,
  { clock }: Writer,
): NonNullable<GatewayClass['status']> {
  const verdicts = [verdict('Accepted', 'Accepted', undefined)];
  return { conditions: conditionsOf(gatewayClass, verdicts, gatewayClass.status?.conditions, clock) };
}

function conditionsOf(
  { metadata: { generation } }: HTTPRoute | Gateway | GatewayClass,
  verdicts: readonly Verdict[],
  before: readonly Condition[] | undefined,
  clock: Pick<Clock, 'now'>,
): readonly Condition[] {
  return verdicts.reduce<readonly Condition[]>(
    (conditions, each) => setCondition(conditions, { ...each, observedGeneration: generation }, clock),
    before ?? [],
  );
}

function isSameParent(a: ParentRef, b: ParentRef): boolean {
  const text = ({ kind = 'Gateway', name, namespace = '', port, sectionName }: ParentRef): string =>
    [kind, namespace, name, sectionName, port].join('/');
  return text(a) === text(b);
}
