import { request } from 'undici';
import type { ReplicaStatus } from '../../admin/server/index.js';
import type { SignInCode } from '../../admin/sign-in/index.js';
import { signInLink } from '../../admin/sign-in/index.js';
import { trustedAgent } from '@rollkeeper/tls';

/** The address of a replica's admin pages, and their certificates. */
export interface ProbedReplica {
  readonly adminUrl: string;
  /** SHA-256 fingerprints; absent: plain HTTP. */
  readonly certificates?: readonly string[];
}

const ANSWER_TIMEOUT_MS = 2000;

/** The names of the replica's failing readiness checks: none, it is ready; undefined: it does not answer. */
export async function failingChecks(replica: ProbedReplica): Promise<readonly string[] | undefined> {
  const answer = await ask(replica, '/readyz');
  if (answer?.code === 200) return [];
  const failing = [...(answer?.text ?? '').matchAll(/^\[-\](\S+)/gm)].map(([, name = '']) => name);
  return failing.length > 0 ? failing : undefined;
}

/**
 * The replica's status; undefined if it does not answer.
 * @param token needed if its pages are not on this machine's loopback
 */
export async function askStatus(replica: ProbedReplica, token?: string): Promise<ReplicaStatus | undefined> {
  return read<ReplicaStatus>(await ask(replica, '/admin/status', token));
}

/** A link that signs a browser in, once and soon; undefined if the replica does not answer. */
export async function askSignInLink(
  replica: ProbedReplica,
  token: string | undefined,
): Promise<string | undefined> {
  const code = read<SignInCode>(await ask(replica, '/admin/sign-in', token, 'POST'));
  return code && signInLink(replica.adminUrl, code);
}

interface Answer {
  readonly code: number;
  readonly text: string;
}

/** The type of an answer is what the page is made from: the replica is of this release. Undefined: it was refused. */
function read<T>(answer: Answer | undefined): T | undefined {
  return answer?.code === 200 ? (JSON.parse(answer.text) as T) : undefined;
}

/** Undefined: no answer. */
async function ask(
  { adminUrl, certificates = [] }: ProbedReplica,
  path: string,
  token?: string,
  method: 'GET' | 'POST' = 'GET',
): Promise<Answer | undefined> {
  const dispatcher = trustedAgent({ by: 'fingerprint', sha256: certificates });
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const timeouts = { headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS };
    const { body, statusCode } = await request(adminUrl + path, { method, ...timeouts, headers, dispatcher });
    return { code: statusCode, text: await body.text() };
  } catch {
    return undefined;
  } finally {
    await dispatcher.close();
  }
}
