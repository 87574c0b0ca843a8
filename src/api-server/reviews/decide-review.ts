import { badRequest, invalid } from '../errors/index.js';
import type { FieldError } from '../kinds/index.js';
import { invalidField } from '../kinds/index.js';
import type { ReviewType } from './review-types.js';

export interface UserInfo {
  readonly username: string;
  readonly groups: readonly string[];
}

/** Whom the server knows. */
export interface Identities {
  /** Whether this is the token of the server's one user. */
  knows(token: string): boolean;
  /** Who asks. Without a token everybody is let in as nobody in particular. */
  readonly self: UserInfo;
  /** Whether everybody may do everything. */
  readonly isOpen: boolean;
}

/** A review as it was sent. */
export interface Review {
  readonly spec?: ReviewSpec;
}

interface ReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly namespace?: string;
  readonly resourceAttributes?: { readonly namespace?: string };
  readonly nonResourceAttributes?: object;
}

/** Whoever has the server's token. */
export const ADMIN: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
export const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Whom tokens are for: kube-apiserver's default. */
const AUDIENCES = ['https://kubernetes.default.svc.cluster.local'];

/**
 * The `status` of a review, in the words and with the refusals of kube-apiserver (pkg/registry/authentication and
 * authorization). One user has all rights, nobody else any.
 * @throws StatusError 400, 422
 */
export function decideReview(
  type: ReviewType,
  { spec = {} }: Review,
  identities: Identities,
  namespace = '',
): object {
  switch (type.kind) {
    case 'TokenReview':
      return reviewToken(spec, identities);
    case 'SelfSubjectReview':
      return { userInfo: identities.self };
    case 'SelfSubjectRulesReview':
      if (!spec.namespace) throw badRequest('no namespace on request');
      return EVERYTHING;
    case 'SelfSubjectAccessReview':
      refuseIfAny(type, attributeErrors(spec));
      return { allowed: true, reason: 'the bearer token may do everything' };
    default:
      refuseIfAny(type, [...attributeErrors(spec), ...subjectErrors(spec), ...localErrors(type, spec)]);
      if (type.namespaced) checkNamespace(spec, namespace);
      return reviewAccess(spec, identities);
  }
}

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

function reviewToken({ audiences = [], token }: ReviewSpec, identities: Identities): object {
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const common = audiences.length === 0 ? AUDIENCES : AUDIENCES.filter((each) => audiences.includes(each));
  if (common.length === 0 || !identities.knows(token)) return { user: {}, error: 'invalid bearer token' };
  return { authenticated: true, user: ADMIN, audiences: common };
}

function reviewAccess({ groups = [], user }: ReviewSpec, { isOpen }: Identities): object {
  if (isOpen) return { allowed: true, reason: 'everybody may do everything' };
  if (user === ADMIN.username || groups.includes('system:masters'))
    return { allowed: true, reason: 'the bearer token may do everything' };
  return { allowed: false, reason: 'the server has one user, who is another' };
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

function localErrors({ namespaced }: ReviewType, { nonResourceAttributes }: ReviewSpec): FieldError[] {
  if (!namespaced || !nonResourceAttributes) return [];
  const problem = 'disallowed on this kind of request';
  return [invalidField('spec.nonResourceAttributes', nonResourceAttributes, problem)];
}

function checkNamespace({ resourceAttributes }: ReviewSpec, namespace: string): void {
  if (resourceAttributes?.namespace === namespace) return;
  throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
}

function refuseIfAny(type: ReviewType, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(type, '', errors);
}
