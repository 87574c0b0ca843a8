import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import type { Dispatcher, Headers } from 'undici';
import {
  ApiServer,
  createKindRegistry,
  createSchemaRegistry,
  ensureTlsFiles,
  kindsWith,
  MemoryStorage,
  schemasWith,
  writeKubeconfig,
} from '../../src/apiserver/index.js';
import type { Interfaces } from '../../src/apiserver/server/bootstrap/api-endpoints.js';
import type { ObjectCheck, ServerLimits, Storage, TokenUser } from '../../src/apiserver/index.js';
import type { Clock } from '../../src/machinery/clock/index.js';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';

export const TOKEN = 'the-token-of-the-tests';

export interface RunningApiServer {
  readonly url: string;
  readonly storage: Storage;
  /** Path of a kubeconfig; only with TLS. */
  readonly kubeconfig: string;
  readonly dir: string;
  /** Sends JSON with the token, or a body as it is; answers status, headers and the parsed body. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  stop(): Promise<void>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are looked into freely by assertions
export type Body = any;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

/** A real server on a real port, on its own store in memory. */
export async function startApiServer(
  options: {
    tls?: boolean;
    storage?: Storage;
    drainTimeoutMs?: number;
    limits?: ServerLimits;
    users?: readonly TokenUser[];
    webhookServices?: Record<string, string>;
    interfaces?: Interfaces;
    clock?: Clock;
    checks?: readonly ObjectCheck[];
    /** @default all are off */
    gates?: readonly string[];
  } = {},
): Promise<RunningApiServer> {
  const clock = options.clock ?? new SystemClock();
  const storage = options.storage ?? new MemoryStorage({ clock });
  const dir = await mkdtemp(join(tmpdir(), 'rollkeeper-api-'));
  const tls = options.tls ? await ensureTlsFiles({ dir, nowMs: clock.now() }) : undefined;
  const gates = new Set(options.gates);
  const server = new ApiServer({
    storage,
    kinds: createKindRegistry(kindsWith(gates)),
    schemas: createSchemaRegistry(schemasWith(gates)),
    clock,
    random: new SystemRandom(),
    logger: silentLogger,
    token: TOKEN,
    drainTimeoutMs: options.drainTimeoutMs ?? 1000,
    ...(tls && { tls, clientCa: tls.ca }),
    users: options.users,
    checks: options.checks,
    ...(options.limits && { limits: options.limits }),
    ...(options.interfaces && { interfaces: options.interfaces }),
    ...(options.webhookServices && { webhookServices: options.webhookServices }),
  });
  const stop = new AbortController();
  const storeStop = new AbortController();
  const storeRun = storage.run(storeStop.signal);
  const run = server.run(stop.signal);
  const { url } = await Promise.race([server.ready, run.then(() => server.ready)]);
  const kubeconfig = join(dir, 'kubeconfig');
  const dispatcher = new Agent({ connect: tls ? { ca: tls.ca } : {} });
  if (tls) await writeKubeconfig({ path: kubeconfig, server: url, caPem: tls.ca, token: TOKEN });
  return {
    url,
    storage,
    kubeconfig,
    dir,
    call: (method, path, body, headers) => call(dispatcher, url, method, path, body, headers),
    async stop() {
      await dispatcher.close();
      stop.abort();
      await run;
      storeStop.abort();
      await storeRun;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function call(
  dispatcher: Dispatcher,
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  const response = await fetch(url + path, {
    dispatcher,
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    }),
  });
  const text = await response.text();
  // The events of a watch are a document each.
  const isWatch = response.ok && /[?&]watch=/.test(path);
  const isJson = !isWatch && (response.headers.get('content-type')?.startsWith('application/json') ?? false);
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

/** A Deployment that is valid. */
export function aDeployment(name: string, spec: Record<string, unknown> = {}): Body {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { app: name } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'nginx', image: 'nginx:1.9' }] },
      },
      ...spec,
    },
  };
}

/** A Pod that is valid. */
export function podBody(name: string, metadata: Record<string, unknown> = {}): Body {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'nginx', image: 'nginx:1.9' }] },
  };
}
