import { createHash, timingSafeEqual } from 'node:crypto';

/** What is known of a request before anything of it is believed. */
export interface RequestFacts {
  readonly method: string;
  /** Without the query, percent-decoding untouched. */
  readonly path: string;
  readonly remoteAddress: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  /** Whether a header says that a proxy sent it on. */
  readonly forwarded: boolean;
}

export type AccessDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly status: 401 | 403; readonly why: string; readonly guess: boolean };

const LOOPBACK_ADDRESS = /^(::1|127(\.\d{1,3}){3}|::ffff:127(\.\d{1,3}){3})$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
/** Nothing of the cluster is in these: probes, metrics, and the console's own files. */
const OPEN_PATHS = /^\/((livez|readyz|healthz)(\/[^/]*)?|metrics|console(\/.*)?)$/;

/**
 * Who may do what: reads on this machine need nothing; reads from elsewhere, and every change, a token.
 *
 * This machine means that the connection comes from it, that no proxy stands in between, and that the browser
 * believes it talks to this machine: a foreign name in `Host` is a page that had its name pointed at us (DNS
 * rebinding), a foreign `Origin` one that calls us across sites.
 */
export function decideAccess(facts: RequestFacts, token: string | undefined): AccessDecision {
  const isRead = facts.method === 'GET' || facts.method === 'HEAD';
  if (isRead && OPEN_PATHS.test(facts.path)) return { allowed: true };
  if (facts.origin !== undefined && !isSameOrigin(facts)) {
    return { allowed: false, status: 403, why: 'requests from other sites are not answered', guess: false };
  }
  if (facts.authorization !== undefined) return judgeToken(facts.authorization, token);
  if (isRead && isLocal(facts)) return { allowed: true };
  const why = isRead ? 'reading from another machine needs a token' : 'a change needs a token';
  return { allowed: false, status: 401, why, guess: false };
}

/** Compares in a time that tells nothing about the token. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function judgeToken(authorization: string, token: string | undefined): AccessDecision {
  const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  if (token === undefined)
    return { allowed: false, status: 403, why: 'this replica has no --admin-token-file', guess: true };
  if (isSameSecret(given, token)) return { allowed: true };
  return { allowed: false, status: 401, why: 'the token is not the right one', guess: true };
}

function isLocal({ forwarded, host, remoteAddress }: RequestFacts): boolean {
  return !forwarded && LOOPBACK_ADDRESS.test(remoteAddress ?? '') && LOOPBACK_HOST.test(host ?? '');
}

function isSameOrigin({ host, origin }: RequestFacts): boolean {
  const url = URL.parse(origin ?? '');
  return url !== null && url.host === host;
}
