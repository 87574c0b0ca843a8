import { z } from 'zod';
import type { KubernetesObject, ObjectMeta } from '@rollkeeper/machinery/kubernetes';

/** A user, as authenticated by the cluster: `authentication.k8s.io/v1 UserInfo`. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Asks for the user of a token. Without audiences: it must be one for the API server itself. */
export function tokenReview(token: string): KubernetesObject {
  return review('authentication.k8s.io/v1', 'TokenReview', { token });
}

/** Asks whether a user may do `verb` (an HTTP method in lower case) on a non-resource path. */
export function subjectAccessReview(
  { extra, groups, uid, username }: UserInfo,
  nonResourceAttributes: { readonly path: string; readonly verb: string },
): KubernetesObject {
  const spec = { user: username, groups, uid, extra, nonResourceAttributes };
  return review('authorization.k8s.io/v1', 'SubjectAccessReview', spec);
}

/** A question to the API. It has no name: reviews are answered, not stored. */
export function review(apiVersion: string, kind: string, spec: object): KubernetesObject {
  const asked = { apiVersion, kind, metadata: {} as ObjectMeta, spec };
  return asked;
}

const strings = z.array(z.string());

const answeredTokenReview = z.object({
  kind: z.literal('TokenReview'),
  status: z.object({
    authenticated: z.boolean().default(false),
    error: z.string().optional(),
    user: z
      .object({
        username: z.string().optional(),
        uid: z.string().optional(),
        groups: strings.optional(),
        extra: z.record(z.string(), strings).optional(),
      })
      .optional(),
  }),
});

const answeredAccessReview = z.object({
  kind: z.literal('SubjectAccessReview'),
  status: z.object({ allowed: z.boolean(), denied: z.boolean().default(false) }),
});

/**
 * The authenticated user; undefined if the token is invalid.
 * @throws if it is not an answer to a TokenReview, or contradicts itself
 */
export function userIn(answer: unknown): UserInfo | undefined {
  const { authenticated, error, user } = answeredTokenReview.parse(answer).status;
  if (!authenticated) return undefined;
  if (error || !user?.username) throw new Error('the TokenReview names no user, or an error beside one');
  return { ...user, username: user.username };
}

/**
 * Whether the review allows it; neither allowed nor denied means not allowed.
 * @throws if it is not an answer to a SubjectAccessReview, or contradicts itself
 */
export function isAllowedBy(answer: unknown): boolean {
  const { allowed, denied } = answeredAccessReview.parse(answer).status;
  if (allowed && denied) throw new Error('the SubjectAccessReview both allows and denies');
  return allowed;
}
