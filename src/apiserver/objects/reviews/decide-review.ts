import type { AuthenticatedToken, UserInfo } from '../../access/auth/index.js';
import type { AccessAttributes, AccessDecision, HeldRules } from '../../access/authorization/index.js';
import { badRequest, invalid } from '../../schema/errors/index.js';
import type { FieldError } from '../../kinds/index.js';
import { invalidField } from '../../kinds/index.js';
import { selectorErrors, selectorProblems } from './review-selectors.js';
import type { ReviewSelectors } from './review-selectors.js';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';

/** A type whose objects are answered, not stored: they can only be created. */
export interface ReviewType extends ResourceType {
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly schema: string;
}

/**
 * The reviews used by `kubectl auth`, and by servers that delegate authorization; by group and name, as in discovery.
 */
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

/** The user whom reviews ask about. */
export interface Reviewer {
  /** The user of a token, and for which of `audiences` it is valid; none given: for the API itself. Absent: invalid. */
  authenticate(token: string, audiences: readonly string[]): Promise<AuthenticatedToken | undefined>;
  /** To be awaited before a question about a user. Absent: it may be asked at once. */
  ready(user: UserInfo): Promise<void> | undefined;
  decide(user: UserInfo, attributes: AccessAttributes): AccessDecision;
  rulesHeldBy(user: UserInfo, namespace: string): HeldRules;
}

/** A review as it was sent. */
export interface Review {
  readonly metadata?: { readonly namespace?: string };
  readonly spec?: ReviewSpec;
}

interface ReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly namespace?: string;
  readonly resourceAttributes?: ReviewSelectors & {
    readonly namespace?: string;
    readonly verb?: string;
    readonly group?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
}

/**
 * The `status` of a review, in the words and with the refusals of kube-apiserver (pkg/registry/authentication and
 * authorization).
 * @param self the user who asks
 * @param namespace of the path
 * @throws StatusError 400, 422
 */
export async function decideReview(
  type: ReviewType,
  { metadata, spec = {} }: Review,
  reviewer: Reviewer,
  { namespace = '', self }: { readonly namespace?: string; readonly self: UserInfo },
): Promise<object> {
  switch (type.kind) {
    case 'TokenReview':
      return reviewToken(spec, reviewer);
    case 'SelfSubjectReview':
      return { userInfo: self };
    case 'SelfSubjectRulesReview':
      if (!spec.namespace) throw badRequest('no namespace on request');
      return reviewRules(reviewer.rulesHeldBy(self, spec.namespace));
    case 'SelfSubjectAccessReview':
      refuseIfAny(type, [...attributeErrors(spec), ...selectorErrors(spec.resourceAttributes ?? {})]);
      return reviewAccess(self, spec, reviewer);
    default:
      if (metadata?.namespace && metadata.namespace !== namespace)
        throw badRequest(
          'the namespace of the provided object does not match the namespace sent on the request',
        );
      refuseIfAny(type, [
        ...attributeErrors(spec),
        ...subjectErrors(spec),
        ...selectorErrors(spec.resourceAttributes ?? {}),
        ...(type.namespaced ? localErrors(spec, namespace) : []),
      ]);
      return reviewAccess(userOf(spec), spec, reviewer);
  }
}

function userOf({ extra, groups = [], uid, user = '' }: ReviewSpec): UserInfo {
  return { username: user, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

async function reviewToken({ audiences = [], token }: ReviewSpec, reviewer: Reviewer): Promise<object> {
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const owner = await reviewer.authenticate(token, audiences);
  if (!owner) return { user: {}, error: 'invalid bearer token' };
  return { authenticated: true, ...owner };
}

async function reviewAccess(user: UserInfo, spec: ReviewSpec, reviewer: Reviewer): Promise<object> {
  await reviewer.ready(user);
  const { allowed, reason } = reviewer.decide(user, attributesOf(spec));
  const problems = selectorProblems(spec.resourceAttributes ?? {});
  return {
    allowed,
    ...(reason !== '' && { reason }),
    ...(problems.length > 0 && { evaluationError: problems.join('; ') }),
  };
}

function attributesOf({ nonResourceAttributes, resourceAttributes }: ReviewSpec): AccessAttributes {
  if (!resourceAttributes) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { path, verb };
  }
  const {
    group = '',
    name = '',
    namespace = '',
    resource = '',
    subresource = '',
    verb = '',
  } = resourceAttributes;
  return { group, name, namespace, resource, subresource, verb };
}

function reviewRules({ problems, rules }: HeldRules): object {
  return {
    resourceRules: rules
      .filter(({ resources }) => resources?.length)
      .map(({ apiGroups, resourceNames, resources, verbs }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames?.length && { resourceNames }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
      .map(({ nonResourceURLs, verbs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(problems.length > 0 && { evaluationError: problems.join(', ') }),
  };
}

function attributeErrors({ nonResourceAttributes, resourceAttributes }: ReviewSpec): FieldError[] {
  if (resourceAttributes && nonResourceAttributes) {
    const problem = 'cannot be specified in combination with resourceAttributes';
    return [invalidField('spec.nonResourceAttributes', nonResourceAttributes, problem)];
  }
  if (resourceAttributes || nonResourceAttributes) return [];
  const problem = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidField('spec.resourceAttributes', undefined, problem)];
}

function subjectErrors({ groups = [], user = '' }: ReviewSpec): FieldError[] {
  if (user !== '' || groups.length > 0) return [];
  return [invalidField('spec.user', user, 'at least one of user or group must be specified')];
}

function localErrors(
  { nonResourceAttributes, resourceAttributes }: ReviewSpec,
  namespace: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (nonResourceAttributes) {
    const problem = 'disallowed on this kind of request';
    errors.push(invalidField('spec.nonResourceAttributes', nonResourceAttributes, problem));
  }
  const { namespace: asked = '' } = resourceAttributes ?? {};
  if (resourceAttributes && asked !== namespace)
    errors.push(invalidField('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  return errors;
}

/** A question about access has no kind in these messages. */
function refuseIfAny({ group }: ReviewType, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group, kind: '' }, '', errors);
}
