import type { KindDefinition, KindRegistry } from '../kinds/index.js';

/** The kinds of one group and version. `authorization.k8s.io/v1` has none, only reviews that are not stored. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly KindDefinition[];
}

/** A type of which objects are judged, not kept. */
export const REVIEW_TYPE = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
} as const;

/**
 * A type that exists for reading only, and of which there never is an object: `kubectl cluster-info` and
 * `get all` ask for it.
 */
export const EMPTY_TYPE = {
  group: '',
  version: 'v1',
  resource: 'services',
  kind: 'Service',
  namespaced: true,
  verbs: ['get', 'list'],
} as const;

/** All group versions that the server has: the core group first, then by name. */
export function groupVersionsOf(kinds: KindRegistry): GroupVersion[] {
  const found = new Map<string, { group: string; version: string; kinds: KindDefinition[] }>();
  const entry = (group: string, version: string) => {
    const key = `${group}/${version}`;
    const existing = found.get(key) ?? { group, version, kinds: [] };
    found.set(key, existing);
    return existing;
  };
  for (const kind of kinds.kinds) entry(kind.type.group, kind.type.version).kinds.push(kind);
  entry(REVIEW_TYPE.group, REVIEW_TYPE.version);
  return [...found.values()].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
}
