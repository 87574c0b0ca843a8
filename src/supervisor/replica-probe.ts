import { request } from 'undici';
import type { ReplicaStatus } from '../admin/index.js';

const ANSWER_TIMEOUT_MS = 2000;

/** Whether the replica passes its own readiness checks; one that does not answer does not. */
export async function isReady(adminUrl: string): Promise<boolean> {
  return (await read(`${adminUrl}/readyz`)) !== undefined;
}

/** Whether the replica says that it leads; one that does not answer leads as far as nobody can tell. */
export async function leads(adminUrl: string): Promise<boolean> {
  const body = await read(`${adminUrl}/admin/status`);
  return body !== undefined && (JSON.parse(body) as ReplicaStatus).leader;
}

/** The page's text, or undefined when it cannot be had. */
async function read(url: string): Promise<string | undefined> {
  try {
    const timeouts = { headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS };
    const { body, statusCode } = await request(url, timeouts);
    const text = await body.text();
    return statusCode === 200 ? text : undefined;
  } catch {
    return undefined;
  }
}
