import { createHash, timingSafeEqual } from 'node:crypto';
import type { AccessQuestion, AskingOne, UserInfo } from '../delegated-access/index.js';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';

/** Unverified facts about a request. */
export interface RequestFacts {
  readonly method: string;
  /** Without the query, percent-encoding unchanged. */
  readonly path: string;
  readonly remoteAddress: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  /** The user of a session whom this replica has authenticated itself. */
  readonly user?: UserInfo | undefined;
  /** Whether a header shows that a proxy forwarded it. */
  readonly forwarded: boolean;
  /** Whether our own user, or root, is the peer; only for connections on this machine. @default unknown */
  readonly isOwnUser?: boolean | undefined;
}

/**
 * The users of this machine who may read without a token. On systems that do not distinguish users, `own-user` equals
 * `anyone`.
 */
export const LOCAL_READS = ['anyone', 'own-user', 'token'] as const;
export type LocalReads = (typeof LOCAL_READS)[number];

/** The rules by which tokens are accepted. */
export interface AccessRules {
  /** Absent: there is no such token. */
  readonly token?: string;
  /** Whether the cluster is asked about other tokens. */
  readonly delegated: boolean;
  /** Whether metrics need no authorization. @default false: the same as other reads */
  readonly openMetrics?: boolean;
  /** @default 'anyone' */
  readonly localReads?: LocalReads;
}

export type AccessDecision =
  /** `because`: the page is public, the client is on this machine, or it has the admin token. */
  | { readonly decision: 'allow'; readonly because: 'everybody' | 'local' | 'token' }
  | {
      readonly decision: 'refuse';
      readonly status: 401 | 403;
      readonly why: string;
      /** Whether a token was tried. */
      readonly guess: boolean;
    }
  /** Depends on the token's user and their rights. */
  | { readonly decision: 'ask'; readonly question: AccessQuestion };

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
/** A path in canonical form: no escapes, no empty or relative segments. */
const PLAIN_PATH = /^(\/(?!\.{1,2}(\/|$))[\w.-]+)+\/?$/;
/** Pages without information about the cluster: probes, the console's own files, and `/`, which redirects there. */
const OPEN_PATHS = /^\/((livez|readyz|healthz)(\/[^/]*)?|console(\/.*)?)?$/;
const METRICS_PATH = '/metrics';
/**
 * The paths at which a browser exchanges the code of a link, the answer of an identity provider, or the ticket to
 * another console, for a session. These are the proof, so it needs no token.
 */
const SIGN_IN_PATHS = /^\/admin\/sign-in\/(exchange|take-over|oidc(\/(exchange|renew|end))?)$/;

/**
 * The access rules: reads on this machine need nothing, within {@link LocalReads}; reads from elsewhere (including
 * metrics, unless they are open), and every change, need a token.
 *
 * On this machine means that the connection is local, without a proxy, and that the browser believes it talks to this
 * machine: a foreign name in `Host` is a page whose name was pointed at us (DNS rebinding), a foreign `Origin` is a
 * cross-site request.
 */
export function decideAccess(facts: RequestFacts, rules: AccessRules): AccessDecision {
  const isRead = facts.method === 'GET' || facts.method === 'HEAD';
  const isOpen = OPEN_PATHS.test(facts.path) || (rules.openMetrics === true && facts.path === METRICS_PATH);
  if (isRead && isOpen) return { decision: 'allow', because: 'everybody' };
  if (facts.origin !== undefined && !isSameOrigin(facts)) {
    return {
      decision: 'refuse',
      status: 403,
      why: 'requests from other sites are not answered',
      guess: false,
    };
  }
  if (facts.method === 'POST' && SIGN_IN_PATHS.test(facts.path))
    return { decision: 'allow', because: 'everybody' };
  if (facts.user !== undefined) return askAbout(facts, { user: facts.user });
  if (facts.authorization !== undefined) return judgeToken(facts, facts.authorization, rules);
  const local = isLocal(facts);
  if (isRead && local && mayReadHere(facts, rules)) return { decision: 'allow', because: 'local' };
  const reading = local ? 'reading needs a token' : 'reading from another machine needs a token';
  const why = isRead ? reading : 'a change needs a token';
  return { decision: 'refuse', status: 401, why, guess: false };
}

/**
 * The path to check rights on. Routing ignores case and a trailing slash: a right on subpaths must not grant the path
 * itself. Undefined: a path without a route, which needs no review.
 */
export function reviewedPath(path: string): string | undefined {
  return PLAIN_PATH.test(path) ? path.toLowerCase().replace(/\/$/, '') : undefined;
}

/** Compares in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function askAbout({ method, path }: RequestFacts, who: AskingOne): AccessDecision {
  const reviewed = reviewedPath(path);
  if (reviewed === undefined)
    return { decision: 'refuse', status: 403, why: 'no role grants a right on such a path', guess: true };
  return { decision: 'ask', question: { ...who, verb: method.toLowerCase(), path: reviewed } };
}

function judgeToken(
  facts: RequestFacts,
  authorization: string,
  { delegated, token }: AccessRules,
): AccessDecision {
  const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  if (token !== undefined && isSameSecret(given, token)) return { decision: 'allow', because: 'token' };
  if (delegated && given !== '') return askAbout(facts, { token: given });
  if (token === undefined && !delegated)
    return { decision: 'refuse', status: 403, why: 'this replica has no --admin-token-file', guess: true };
  return { decision: 'refuse', status: 401, why: 'the token is not the right one', guess: true };
}

function isLocal({ forwarded, host, remoteAddress }: RequestFacts): boolean {
  return !forwarded && isLoopbackAddress(remoteAddress ?? '') && LOOPBACK_HOST.test(host ?? '');
}

function mayReadHere({ isOwnUser }: RequestFacts, { localReads = 'anyone' }: AccessRules): boolean {
  return localReads === 'anyone' || (localReads === 'own-user' && isOwnUser !== false);
}

function isSameOrigin({ host, origin }: RequestFacts): boolean {
  const url = URL.parse(origin ?? '');
  return url !== null && url.host === host;
}
