import type { Condition } from './conditions.js';
import type { DeepReadonly, KubernetesObject, OfKind } from './objects.js';
import { kindOf } from './resource-type.js';

/**
 * The group of evictions by request in Kubernetes 1.37 (KEP-4563, alpha): a preview, for servers that have its feature gate on.
 */
export const LIFECYCLE_GROUP = 'lifecycle.k8s.io';

/** The pod that is to go: one of another UID is another pod. */
export interface EvictionPodReference {
  name: string;
  uid: string;
}

/** `Eviction`: it is to go. `Withdrawn`: this requester does not ask for it any more. */
export type EvictionIntent = 'Eviction' | 'Withdrawn';

/** The wish of one requester that a pod goes, `lifecycle.k8s.io/v1alpha1`. */
export interface EvictionRequest extends KubernetesObject, OfKind<'EvictionRequest'> {
  spec: {
    target: { pod?: EvictionPodReference };
    /** A name with a domain, such as `example.com/drainer`. */
    requester: string;
    intent: EvictionIntent;
  };
  status?: {
    /** `TargetEvicted` and `Failed`. */
    conditions?: Condition[];
    observedGeneration?: number;
  };
}
export const EvictionRequest = kindOf<EvictionRequest>(
  LIFECYCLE_GROUP,
  'v1alpha1',
  'evictionrequests',
  'EvictionRequest',
);

/** The states of a responder: only one is `Active` at a time, and the last three are final. */
export const RESPONDER_STATES = ['Active', 'Canceled', 'Completed', 'Inactive', 'Interrupted'] as const;
export type ResponderState = (typeof RESPONDER_STATES)[number];

/** A responder of a pod. The highest priority comes first. */
export interface EvictionResponder {
  /** A name with a domain, such as `example.com/drainer`. */
  name: string;
  /** From 0 to 100000; below 1000 only for those of Kubernetes. */
  priority: number;
}

/** A responder of an eviction, and its turn, which the eviction-request controller gives. */
export interface TargetResponder extends EvictionResponder {
  state: ResponderState;
}

/** The report of a responder, written while it is active. Times are RFC 3339. */
export interface ResponderStatus {
  name: string;
  /** The beginning of its turn. */
  startTime?: string;
  /** The last sign of life; without one for {@link HEARTBEAT_DEADLINE_MS} the next responder has its turn. */
  heartbeatTime?: string;
  expectedCompletionTime?: string;
  completionTime?: string;
  message?: string;
}

/** The eviction of a pod, on which its responders take turns, `lifecycle.k8s.io/v1alpha1`. */
export interface Eviction extends KubernetesObject, OfKind<'Eviction'> {
  spec: { target: { pod?: EvictionPodReference } };
  status?: {
    /** `TargetEvicted` and `Failed`. */
    conditions?: Condition[];
    observedGeneration?: number;
    requesters?: { name: string; intent: EvictionIntent }[];
    targetResponders?: TargetResponder[];
    /** As many as `targetResponders`, in the same order. */
    responders?: ResponderStatus[];
  };
}
export const Eviction = kindOf<Eviction>(LIFECYCLE_GROUP, 'v1alpha1', 'evictions', 'Eviction');

/** The part of a pod's spec that servers without the preview do not have. */
export interface WithEvictionResponders {
  evictionResponders?: EvictionResponder[];
}

/** A responder that gives no sign of life for this time loses its turn. */
export const HEARTBEAT_DEADLINE_MS = 20 * 60_000;

/** The responder that every pod has: it evicts by the `eviction` subresource, so budgets count. */
export const IMPERATIVE_EVICTOR: Readonly<EvictionResponder> = {
  name: 'imperative-eviction.k8s.io/evictor',
  priority: 100,
};

/** The responder of Deployments that replace pods before these go. The priority is that of a pod's controller. */
export const DEPLOYMENT_RESPONDER: Readonly<EvictionResponder> = {
  name: 'rollkeeper.dev/deployment',
  priority: 10_000,
};

export const TARGET_EVICTED = 'TargetEvicted';
export const EVICTION_FAILED = 'Failed';

/**
 * The order of turns: by priority, the highest first, then by the domain from its last label to its first, then by the part
 * behind the slash.
 */
export function compareResponders(
  a: DeepReadonly<EvictionResponder>,
  b: DeepReadonly<EvictionResponder>,
): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [one, other] = [partsOf(a.name), partsOf(b.name)];
  for (let at = 0; at < Math.max(one.domain.length, other.domain.length); at++) {
    const [label = '', against = ''] = [one.domain[at], other.domain[at]];
    if (label !== against) return label < against ? -1 : 1;
  }
  if (one.key === other.key) return 0;
  return one.key < other.key ? -1 : 1;
}

function partsOf(name: string): { readonly domain: readonly string[]; readonly key: string } {
  const slash = name.indexOf('/');
  return { domain: name.slice(0, slash).split('.').toReversed(), key: name.slice(slash + 1) };
}

/** The status entry of a responder; undefined for one that is not in the list. */
export function responderStatusOf(
  { status }: DeepReadonly<Eviction>,
  name: string,
): DeepReadonly<ResponderStatus> | undefined {
  return status?.responders?.find((each) => each.name === name);
}

/** Whether the eviction has ended, well or not. */
export function hasEvictionEnded({ status }: DeepReadonly<Eviction>): boolean {
  return (status?.conditions ?? []).some(
    ({ status: is, type }) => is === 'True' && (type === TARGET_EVICTED || type === EVICTION_FAILED),
  );
}
