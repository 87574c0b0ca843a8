import type { ResourceType } from '../../base/kubernetes/index.js';

/** A type of which objects are answered, not kept: they can be created, and that is all. */
export interface ReviewType extends ResourceType {
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly schema: string;
}

/** What `kubectl auth`, and whoever leaves it to the cluster who may do what, ask; by group and name, as in discovery. */
export const REVIEW_TYPES: readonly ReviewType[] = [
  review('authentication', 'SelfSubjectReview'),
  review('authentication', 'TokenReview'),
  review('authorization', 'LocalSubjectAccessReview', true),
  review('authorization', 'SelfSubjectAccessReview'),
  review('authorization', 'SelfSubjectRulesReview'),
  review('authorization', 'SubjectAccessReview'),
];

export function findReviewType(path: {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}): ReviewType | undefined {
  return REVIEW_TYPES.find(
    ({ group, resource, version }) =>
      group === path.group && resource === path.resource && version === path.version,
  );
}

function review(group: string, kind: string, namespaced = false): ReviewType {
  return {
    group: `${group}.k8s.io`,
    version: 'v1',
    resource: `${kind.toLowerCase()}s`,
    kind,
    namespaced,
    singular: kind.toLowerCase(),
    verbs: ['create'],
    schema: `io.k8s.api.${group}.v1.${kind}`,
  };
}
