import { request } from 'undici';
import type { ReplicaStatus } from '../admin/index.js';
import { trustedAgent } from '../tls/index.js';

/** Where a replica's admin pages are, and by which certificates they are known. */
export interface ProbedReplica {
  readonly adminUrl: string;
  /** SHA-256 fingerprints; absent: plain HTTP. */
  readonly certificates?: readonly string[];
}

const ANSWER_TIMEOUT_MS = 2000;

/** Whether the replica passes its own readiness checks; one that does not answer does not. */
export async function isReady(replica: ProbedReplica): Promise<boolean> {
  return (await read(replica, '/readyz')) !== undefined;
}

/**
 * Whether the replica says that it leads; one that does not answer leads as far as nobody can tell.
 * @param token needed where its pages are not on this machine's loopback
 */
export async function leads(replica: ProbedReplica, token?: string): Promise<boolean> {
  const body = await read(replica, '/admin/status', token);
  return body !== undefined && (JSON.parse(body) as ReplicaStatus).leader;
}

/** The page's text, or undefined when it cannot be had. */
async function read(
  { adminUrl, certificates = [] }: ProbedReplica,
  path: string,
  token?: string,
): Promise<string | undefined> {
  const dispatcher = trustedAgent({ by: 'fingerprint', sha256: certificates });
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const timeouts = { headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS };
    const { body, statusCode } = await request(adminUrl + path, { ...timeouts, headers, dispatcher });
    const text = await body.text();
    return statusCode === 200 ? text : undefined;
  } catch {
    return undefined;
  } finally {
    await dispatcher.close();
  }
}
