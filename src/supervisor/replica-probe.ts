import { request } from 'undici';
import type { ReplicaStatus } from '../admin/index.js';

const ANSWER_TIMEOUT_MS = 2000;

/** The names of the replica's readiness checks that fail: none, it is ready; undefined: it does not answer. */
export async function failingChecks(adminUrl: string): Promise<readonly string[] | undefined> {
  const answer = await ask(`${adminUrl}/readyz`);
  if (answer?.code === 200) return [];
  const failing = [...(answer?.text ?? '').matchAll(/^\[-\](\S+)/gm)].map(([, name = '']) => name);
  return failing.length > 0 ? failing : undefined;
}

/** Whether the replica says that it leads; one that does not answer leads as far as nobody can tell. */
export async function leads(adminUrl: string): Promise<boolean> {
  const body = await read(`${adminUrl}/admin/status`);
  return body !== undefined && (JSON.parse(body) as ReplicaStatus).leader;
}

/** The page's text, or undefined when it cannot be had. */
async function read(url: string): Promise<string | undefined> {
  const answer = await ask(url);
  return answer?.code === 200 ? answer.text : undefined;
}

async function ask(url: string): Promise<{ code: number; text: string } | undefined> {
  try {
    const timeouts = { headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS };
    const { body, statusCode } = await request(url, timeouts);
    return { code: statusCode, text: await body.text() };
  } catch {
    return undefined;
  }
}
