import { createHash } from 'node:crypto';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { IllegalStateError, TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { SubjectAccessReview, TokenReview } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { UserInfo } from './reviews.js';
import { isAllowedBy, subjectAccessReview, tokenReview, userIn } from './reviews.js';

/** May the user of `token`, or a user who is known by other means, do this? */
export type AccessQuestion = AskingOne & AskedAccess;

/** The caller: the holder of a token, or a user whom this replica has authenticated itself. */
export type AskingOne =
  | { readonly token: string; readonly user?: undefined }
  | { readonly user: UserInfo; readonly token?: undefined };

interface AskedAccess {
  /** An HTTP method in lower case, as in Kubernetes' `nonResourceURLs` rules. */
  readonly verb: string;
  readonly path: string;
}

/** `unanswered`: the cluster did not answer, or not sensibly. Access is denied. */
export type AccessVerdict =
  | { readonly verdict: 'allowed'; readonly user: string }
  | { readonly verdict: 'forbidden'; readonly user: string }
  | { readonly verdict: 'unauthenticated' }
  | { readonly verdict: 'unanswered' };

/** Verifies other bearer tokens. Never rejects. */
export interface AccessJudge {
  judge(question: AccessQuestion): Promise<AccessVerdict>;
}

interface DelegatedAccessDependencies {
  /** With the rights of `system:auth-delegator`. */
  readonly client: Pick<ApiClient, 'create'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const AUTHENTICATED = 'system:authenticated';
/** The same as kube-controller-manager's (`--authentication-token-webhook-cache-ttl`). */
const TTL_MS = 10_000;
/** Limit of remembered tokens, and of remembered access decisions. */
const CACHE_SIZE = 1000;
/** Timeout of a review. */
const REVIEW_TIMEOUT_MS = 5000;
/** Limit of concurrent reviews: made-up tokens must not load the API server. */
const MOST_UNDER_WAY = 20;

/**
 * Delegates authentication and authorization to the cluster, as kube-controller-manager does for its own port: a
 * TokenReview, then a SubjectAccessReview. Answers are cached for 10 s, so a revoked token works that long. Tokens are
 * only kept as hashes.
 */
export class DelegatedAccess implements AccessJudge {
  private readonly users: ExpiringCache<UserInfo | undefined>;
  private readonly rights: ExpiringCache<boolean>;
  private underWay = 0;

  constructor(private readonly deps: DelegatedAccessDependencies) {
    const options = { ttlMs: TTL_MS, size: CACHE_SIZE };
    this.users = new ExpiringCache(deps.clock, options);
    this.rights = new ExpiringCache(deps.clock, options);
  }

  async judge(asked: AccessQuestion): Promise<AccessVerdict> {
    const { path, verb } = asked;
    try {
      const user = asked.user ? authenticated(asked.user) : await this.userOf(asked.token);
      if (!user) return { verdict: 'unauthenticated' };
      const question = hashOf(JSON.stringify([user, verb, path]));
      const allowed = await this.rights.get(question, () => this.mayUse(user, verb, path));
      return { verdict: allowed ? 'allowed' : 'forbidden', user: user.username };
    } catch (error) {
      this.deps.logger.warn('the cluster did not say who may use the admin API', {
        verb,
        path,
        error: errorMessage(error),
      });
      return { verdict: 'unanswered' };
    }
  }

  private userOf(token: string): Promise<UserInfo | undefined> {
    return this.users.get(hashOf(token), () => this.whoHas(token));
  }

  private async whoHas(token: string): Promise<UserInfo | undefined> {
    return userIn(await this.ask(TokenReview, tokenReview(token)));
  }

  private async mayUse(user: UserInfo, verb: string, path: string): Promise<boolean> {
    return isAllowedBy(await this.ask(SubjectAccessReview, subjectAccessReview(user, { path, verb })));
  }

  private async ask(type: ResourceType, review: KubernetesObject): Promise<unknown> {
    if (this.underWay >= MOST_UNDER_WAY) throw new IllegalStateError('too many reviews are under way');
    const timeout = new AbortController();
    const timer = this.deps.clock.setTimeout(
      () => timeout.abort(new TimeoutError(`no ${type.kind} within ${REVIEW_TIMEOUT_MS} ms`)),
      REVIEW_TIMEOUT_MS,
    );
    this.underWay++;
    try {
      return await this.deps.client.create(type, review, { signal: timeout.signal });
    } finally {
      this.underWay--;
      timer.cancel();
    }
  }
}

/** In the group that the API server adds to every user whom it knows, also to an impersonated one. */
function authenticated(user: UserInfo): UserInfo {
  return { ...user, groups: [...(user.groups ?? []), AUTHENTICATED] };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

interface Entry<T> {
  readonly answer: Promise<T>;
  /** By the monotonic clock. */
  readonly expiresAtMs: number;
}

interface ExpiringCacheOptions {
  /** Lifetime of an answer, milliseconds, from the moment the request was sent. */
  readonly ttlMs: number;
  /** Maximum number of answers; the least recently requested is evicted. */
  readonly size: number;
}

/** A short-lived cache. Concurrent requests for the same key share one answer; failures are not cached. */
export class ExpiringCache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly clock: Pick<Clock, 'monotonicNow'>,
    private readonly options: ExpiringCacheOptions,
  ) {}

  /** The answer for `key`: the cached one, otherwise that of `ask`. */
  get(key: string, ask: () => Promise<T>): Promise<T> {
    const now = this.clock.monotonicNow();
    const existing = this.entries.get(key);
    if (existing && now < existing.expiresAtMs) return existing.answer;
    const entry = { answer: ask(), expiresAtMs: now + this.options.ttlMs };
    this.entries.delete(key);
    this.entries.set(key, entry);
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.options.size && oldest !== undefined) this.entries.delete(oldest);
    entry.answer.catch(() => {
      if (this.entries.get(key) === entry) this.entries.delete(key);
    });
    return entry.answer;
  }
}
