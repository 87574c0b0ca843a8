import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';
import { CANARIES, putIdentities } from './rights/identities.js';
import { sendRaw } from './rights/raw-request.js';
import type { RawRequest } from './rights/raw-request.js';

/**
 * Requests of identities with few rights, with what a genuine kube-apiserver 1.36.2 answered: `identity, method, path, headers?,
 * body?, code, reason?`, a line each. A new way to read or to write gets lines of its own: what `rights/identities.ts` makes is put
 * on a genuine server, the requests are sent to it by each identity, and its answers are added.
 */
const RECORDED = new URL('../vectors/authorization-1.36.jsonl.gz', import.meta.url);
/** Requests under way at once. */
const PARALLEL = 32;

interface Recorded extends RawRequest {
  readonly identity: string;
  readonly code: number;
  readonly reason?: string;
}

interface Difference {
  readonly why: string;
  readonly is: (request: Recorded) => boolean;
  /** How many requests differ for this reason. */
  readonly count: number;
}

/** The places in which we differ from a genuine server on purpose. */
const DIFFERENCES: readonly Difference[] = [
  {
    why: 'a method in lower case is no HTTP to the parser, which answers 400 to everybody',
    is: ({ method }) => method === 'get',
    count: 24,
  },
  {
    why: 'a continue token is refused that no server on the store has made',
    is: ({ code, path }) => code === 200 && path.includes('continue='),
    count: 3,
  },
  {
    why: 'metrics.k8s.io is there without an extension API server',
    is: ({ code, path }) => code === 404 && path.startsWith('/apis/metrics.k8s.io/'),
    count: 1,
  },
];

let server: RunningApiServer;
let tokens: ReadonlyMap<string, string>;

beforeAll(async () => {
  server = await startApiServer();
  tokens = await putIdentities(server);
});
afterAll(() => server.stop());

async function judge(recorded: Recorded): Promise<string | undefined> {
  const { body, code, headers, identity, method, path, reason } = recorded;
  const token = tokens.get(identity);
  const { status, text } = await sendRaw(server.url, {
    method,
    path,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  for (const canary of CANARIES) {
    const hidden = [canary, Buffer.from(canary).toString('base64')];
    if (hidden.some((each) => text.includes(each))) return `shows ${canary}`;
  }
  const answered = /"reason":"(\w+)"/.exec(status >= 400 ? text.slice(text.indexOf('\r\n\r\n')) : '')?.[1];
  if (status === code && answered === reason) return undefined;
  return `${status} ${answered}, genuine ${code} ${reason}`;
}

it('identities may do what a genuine server lets them do, in every spelling, and nothing else', async () => {
  const lines = gunzipSync(readFileSync(RECORDED)).toString().trim().split('\n');
  const recorded = lines.map((line) => JSON.parse(line) as Recorded);
  const differing: { readonly request: Recorded; readonly problem: string }[] = [];
  const waiting = recorded.values();
  const work = async (): Promise<void> => {
    for (const request of waiting) {
      const problem = await judge(request);
      if (problem !== undefined) differing.push({ request, problem });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  const unexplained = differing.filter(({ request }) => !DIFFERENCES.some(({ is }) => is(request)));
  expect(
    unexplained.map(
      ({ problem, request: { identity, method, path } }) => `${identity} ${method} ${path}: ${problem}`,
    ),
  ).toEqual([]);
  for (const { count, is, why } of DIFFERENCES)
    expect(
      differing.filter(({ request }) => is(request)),
      why,
    ).toHaveLength(count);
  expect(recorded).toHaveLength(948);
}, 120_000);
