import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { AdminRequest, Operation } from './admin-requests.js';
import { adminRequests } from './admin-requests.js';

export interface AdminTarget {
  readonly url: string;
  /** The token that lets people change things. */
  readonly token: string;
  /** Called between requests: who limits requests by the clock has to see it go on. */
  readonly pass?: () => Promise<void>;
}

export interface AdminFinding {
  readonly request: AdminRequest;
  readonly problem: string;
}

export interface AdminFuzzReport {
  readonly findings: readonly AdminFinding[];
  /** How often each status was answered; 0: the connection ended without an answer. */
  readonly statuses: ReadonlyMap<number, number>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const ANSWER_TIMEOUT_MS = 60_000;
/** So many, and the probes are asked again. */
const PROBE_EVERY = 50;
/** More than the buffers of a connection take, bytes. */
const LARGE_BODY = 64 * 1024;

/** The operations that the replica says that it serves. */
export async function operationsOf({ url, token }: AdminTarget): Promise<Operation[]> {
  const headers = { authorization: `Bearer ${token}` };
  const document = await fetch(`${url}/admin/openapi.json`, { headers });
  const { paths } = (await document.json()) as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
}

/**
 * Sends `count` strange requests, the same for the same seed, and judges every answer: nothing is changed without the
 * token, the token is never revealed, nothing is answered with a fault of the server's own, and the probes go on.
 */
export async function fuzzAdmin(
  target: AdminTarget,
  options: { readonly seed: number; readonly count: number },
): Promise<AdminFuzzReport> {
  const findings: AdminFinding[] = [];
  const statuses = new Map<number, number>();
  const requests = adminRequests(await operationsOf(target), { ...options, token: target.token });
  for (const [index, sent] of requests.entries()) {
    await target.pass?.();
    const answer = await send(target, sent).catch((error: Error) => error);
    const problem = answer instanceof Error ? lossOf(sent, answer) : problemOf(target, sent, answer);
    const status = answer instanceof Error ? 0 : answer.status;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (problem !== undefined) findings.push({ request: sent, problem });
    if (index % PROBE_EVERY !== 0 && !(answer instanceof Error)) continue;
    const probe: AdminRequest = { method: 'GET', path: '/livez', headers: {} };
    const alive = await send(target, probe).catch((error: Error) => ({ status: 0, text: error.message }));
    if (alive.status !== 200) findings.push({ request: probe, problem: `${alive.status} ${alive.text}` });
  }
  return { findings, statuses };
}

/**
 * A server may refuse a request by its headers and close before it has read the body: the answer is lost while the rest is being
 * sent. The probe that follows says whether the server is still there.
 */
function lossOf({ body = '' }: AdminRequest, error: NodeJS.ErrnoException): string | undefined {
  const isClosedEarly = error.code === 'EPIPE' || error.code === 'ECONNRESET';
  return isClosedEarly && body.length > LARGE_BODY ? undefined : error.message;
}

function problemOf({ token }: AdminTarget, sent: AdminRequest, { status, text }: Answer): string | undefined {
  // 503 is how a probe tells that something is not well.
  if (status >= 500 && status !== 503) return `answered ${status}: ${text.slice(0, 300)}`;
  if (text.includes(token)) return 'told the token';
  const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(sent.method);
  if (!isRead && status < 400 && sent.headers['authorization'] !== `Bearer ${token}`)
    return `changed something without the token: ${status}`;
  if (Object.keys(Object.prototype).length > 0) return 'every object has a new property';
  return undefined;
}

async function send({ url }: AdminTarget, { body, headers, method, path }: AdminRequest): Promise<Answer> {
  const sent = request(url, {
    ...{ method, path, headers, agent: false },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // A stream of events does not end by itself.
  if (response.headers['content-type']?.startsWith('text/event-stream')) {
    sent.destroy();
    return { status: response.statusCode ?? 0, text: '' };
  }
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, text };
}
