import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import { REVIEW_TYPES } from '../reviews/index.js';
import type { ReviewType } from '../reviews/index.js';

/** The kinds of one group and version, and its types whose objects are not stored. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly KindDefinition[];
  readonly reviews: readonly ReviewType[];
}

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

interface Contents {
  readonly kinds: KindDefinition[];
  readonly reviews: ReviewType[];
}

/** All group versions that the server has: the core group first, then by name. */
export function groupVersionsOf(kinds: KindRegistry): GroupVersion[] {
  const found = new Map<string, Omit<GroupVersion, 'kinds' | 'reviews'> & Contents>();
  const entry = ({ group, version }: { readonly group: string; readonly version: string }): Contents => {
    const key = `${group}/${version}`;
    const existing = found.get(key) ?? { group, version, kinds: [], reviews: [] };
    found.set(key, existing);
    return existing;
  };
  for (const kind of kinds.kinds) entry(kind.type).kinds.push(kind);
  for (const review of REVIEW_TYPES) entry(review).reviews.push(review);
  return [...found.values()].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
}
