import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { compareVersions } from '../../kinds/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import { COMPONENT_STATUSES } from '../../objects/component-statuses/component-statuses.js';
import { METRICS_TYPES } from '../../objects/resource-metrics/metrics-kinds.js';
import { REVIEW_TYPES } from '../../objects/reviews/decide-review.js';

/** A type whose objects are computed on request, and never stored. */
export interface AnsweredType extends ResourceType {
  readonly singular: string;
  /** Name of the schema of its objects. */
  readonly schema: string;
  /** @default none */
  readonly shortNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** All of them, by group and name. */
export const ANSWERED_TYPES: readonly AnsweredType[] = [
  {
    ...{ group: '', version: 'v1', resource: 'bindings', kind: 'Binding', namespaced: true },
    ...{ singular: 'binding', schema: 'io.k8s.api.core.v1.Binding', verbs: ['create'] },
  },
  {
    ...COMPONENT_STATUSES.type,
    ...{ singular: 'componentstatus', shortNames: ['cs'], verbs: ['get', 'list'] },
    schema: 'io.k8s.api.core.v1.ComponentStatus',
  },
  ...REVIEW_TYPES,
  ...METRICS_TYPES,
];

const WITHOUT_METRICS = ANSWERED_TYPES.filter((type) => !METRICS_TYPES.some((one) => one === type));

/** The kinds of one group and version, and its types whose objects are not stored. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly KindDefinition[];
  readonly answered: readonly AnsweredType[];
}

interface Contents {
  readonly kinds: KindDefinition[];
  readonly answered: AnsweredType[];
}

/**
 * All group versions that the server has: the core group first, then in the order of a genuine
 * server, others by name; the newest version of a group first.
 */
export function groupVersionsOf(kinds: KindRegistry): GroupVersion[] {
  const found = new Map<string, Omit<GroupVersion, 'kinds' | 'answered'> & Contents>();
  const entry = ({ group, version }: { readonly group: string; readonly version: string }): Contents => {
    const key = `${group}/${version}`;
    const existing = found.get(key) ?? { group, version, kinds: [], answered: [] };
    found.set(key, existing);
    return existing;
  };
  for (const kind of kinds.kinds) entry(kind.type).kinds.push(kind);
  const answered = kinds.hasMetrics === false ? WITHOUT_METRICS : ANSWERED_TYPES;
  for (const type of answered) entry(type).answered.push(type);
  return [...found.values()].sort(
    (a, b) => compareGroups(a.group, b.group) || compareVersions(a.version, b.version),
  );
}

/** The group versions by group, in the same order. */
export function groupsOf(kinds: KindRegistry): readonly (readonly [GroupVersion, ...GroupVersion[]])[] {
  const groups = new Map<string, [GroupVersion, ...GroupVersion[]]>();
  for (const found of groupVersionsOf(kinds)) {
    const versions = groups.get(found.group);
    if (versions) versions.push(found);
    else groups.set(found.group, [found]);
  }
  return [...groups.values()];
}

/** By the priorities of the genuine server's APIServices. Clients take the first group that has a name. */
const GROUP_ORDER: readonly string[] = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

function compareGroups(a: string, b: string): number {
  return groupPlace(a) - groupPlace(b) || compareTexts(a, b);
}

function groupPlace(group: string): number {
  const place = GROUP_ORDER.indexOf(group);
  return place < 0 ? GROUP_ORDER.length : place;
}

/** Entries of a group version as a genuine server lists them: by name, and those of a definition as they are. */
export function byName<T>(group: string, entries: readonly T[], nameOf: (entry: T) => string): readonly T[] {
  if (!isBuiltInGroup(group)) return entries;
  return [...entries].sort((a, b) => compareTexts(nameOf(a), nameOf(b)));
}

/** Whether two lists have the same items in the same order. */
export function sameItems<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((item, index) => item === others[index]);
}

/** A built-in group: one that no APIService or definition has added. */
export function isBuiltInGroup(group: string): boolean {
  return GROUP_ORDER.includes(group);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
