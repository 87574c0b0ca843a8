import {
  addAmounts,
  canonicalQuantity,
  isPodLevelResource,
  nanosOf,
  objectOfKind,
  ownField,
  pickAmounts,
  subtractAmounts,
} from '@rollkeeper/machinery/kubernetes';
import type { ResourceQuota as IResourceQuota } from '@rollkeeper/machinery/types/core-v1';
import type {
  Amounts,
  KubernetesObject,
  Pod,
  ResourceType,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
import { isInScope } from './scopes.js';
import { usageOf } from './usage.js';

export type ResourceQuota = IResourceQuota & KubernetesObject;

/** A write as a quota sees it. */
export interface Change {
  readonly type: ResourceType;
  readonly object?: Readonly<UnstructuredObject>;
  readonly oldObject?: Readonly<UnstructuredObject>;
}

/** How much a change raises and lowers a quota's usage; empty if not at all. */
export interface Difference {
  readonly more: Amounts;
  readonly less: Amounts;
}

export function differenceOf(
  quota: Readonly<ResourceQuota>,
  { type, object, oldObject }: Change,
): Difference {
  const spec = quota.spec ?? {};
  const { hard = {} } = spec;
  const counted = (state: Readonly<UnstructuredObject> | undefined): Amounts =>
    state && isInScope(spec, type, state)
      ? pickAmounts(usageOf(type, state), (name) => hard[name] !== undefined)
      : {};
  const change = subtractAmounts(counted(object), counted(oldObject));
  const negative = pickAmounts(change, (_name, amount) => nanosOf(amount) < 0n);
  return {
    more: pickAmounts(change, (_name, amount) => nanosOf(amount) > 0n),
    less: subtractAmounts({}, negative),
  };
}

/** Why the quota does not allow `more`, or undefined. Source: CheckRequest in apiserver's resourcequota plug-in. */
export function excessOf(
  { metadata, spec, status }: Readonly<ResourceQuota>,
  more: Amounts,
): string | undefined {
  const hard: Amounts = spec?.hard ?? {};
  const used: Amounts = status?.used ?? {};
  const exceeded = Object.keys(more)
    .filter((name) => nanosOf(used[name]) + nanosOf(more[name]) > nanosOf(hard[name]))
    .sort();
  if (exceeded.length === 0) return undefined;
  const shown = (amounts: Amounts): string =>
    exceeded.map((name) => `${name}=${canonicalQuantity(String(amounts[name] ?? '0'))}`).join(',');
  return `exceeded quota: ${metadata.name}, requested: ${shown(more)}, used: ${shown(used)}, limited: ${shown(hard)}`;
}

/** The resources that a quota requires a pod to specify; other resources are optional. */
const SAID_BY_CONTAINERS: Readonly<Record<string, readonly ['requests' | 'limits', string]>> = {
  cpu: ['requests', 'cpu'],
  memory: ['requests', 'memory'],
  'requests.cpu': ['requests', 'cpu'],
  'requests.memory': ['requests', 'memory'],
  'limits.cpu': ['limits', 'cpu'],
  'limits.memory': ['limits', 'memory'],
};

/** Why a new pod cannot be counted, or undefined. */
export function vaguenessOf(
  { metadata, spec = {} }: Readonly<ResourceQuota>,
  { type, object }: Change,
): string | undefined {
  if (type.group !== '' || type.resource !== 'pods' || !object || !isInScope(spec, type, object))
    return undefined;
  const { containers, initContainers = [], resources: whole } = objectOfKind<Pod>(object).spec;
  // If a pod says it as a whole, its containers need not.
  const isSaid = [whole?.limits, whole?.requests].some((amounts) =>
    Object.keys(amounts ?? {}).some(isPodLevelResource),
  );
  if (isSaid) return undefined;
  const missing = Object.keys(spec.hard ?? {})
    .sort()
    .flatMap((name) => {
      const [part, resource] = ownField(SAID_BY_CONTAINERS, name) ?? [];
      if (!part || !resource) return [];
      const silent = [...containers, ...initContainers]
        .filter(({ resources }) => resources?.[part]?.[resource] === undefined)
        .map((container) => container.name);
      return silent.length > 0 ? [`${name} for: ${[...new Set(silent)].sort().join(',')}`] : [];
    });
  return missing.length > 0
    ? `failed quota: ${metadata.name}: must specify ${missing.join('; ')}`
    : undefined;
}

/** The status after a change. Never negative. */
export function statusAfter(
  { spec, status }: Readonly<ResourceQuota>,
  change: Partial<Difference>,
): NonNullable<ResourceQuota['status']> {
  const sum = subtractAmounts(addAmounts(status?.used ?? {}, change.more ?? {}), change.less ?? {});
  const used = Object.entries(sum).map(([name, amount]) => [name, nanosOf(amount) < 0n ? '0' : amount]);
  return { ...status, hard: spec?.hard, used: Object.fromEntries(used) as Record<string, string> };
}
