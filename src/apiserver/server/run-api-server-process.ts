import { join } from 'node:path';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { errorMessage, StartupError } from '@rollkeeper/machinery/errors';
import { claimDataFolder, readNamedFile } from '@rollkeeper/machinery/files';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ObjectCheck } from '../access/admission/index.js';
import { ApiServer } from './api-server.js';
import type { ApiServerMetrics } from './api-server-metrics.js';
import type {
  ApiServerProcessOptions,
  CompiledApiServerProcessOptions,
} from './api-server-process.options.js';
import { compileApiServerProcessOptions } from './api-server-process.options.js';
import { ensureSigningKeyFile, ensureTokenFile, readTokenUsers } from '../access/auth/index.js';
import { limitHeapGrowth } from '@rollkeeper/machinery/process';
import { assertUsableRedis } from '@rollkeeper/redis/connection';
import { createKindRegistry, kindsWith, schemasWith } from '../kinds/index.js';
import { writeKubeconfig } from './write-kubeconfig.js';
import { createSchemaRegistry } from '../schema/index.js';
import { RedisStorage } from '../storage/index.js';
import { ensureTlsFiles } from './tls-files.js';
import type { TlsMaterial } from './tls-files.js';

/** How long a Redis that is not there at the start is waited for. */
const REDIS_TIMEOUT_MS = 30_000;
/**
 * A flood leaves behind as much as V8 lets it: with V8's own growth the process had 1040 MiB at the worst of the fuzzer's floods, with this
 * 580; and 218 in place of 325 after tens of thousands of writes, for a twentieth more CPU (docs/PERFORMANCE.md).
 */
const HEAP_GROWTH_PERCENT = 50;

export interface ApiServerProcess {
  readonly logger: Logger;
  /** @default none */
  readonly metrics?: ApiServerMetrics;
  /** Checks of objects beyond those of Kubernetes. @default none */
  readonly checks?: readonly ObjectCheck[];
  /** Further flags of the process, for `/flagz`. @default none */
  readonly flags?: Readonly<Record<string, string>>;
  /** Called once, when the server listens. */
  readonly onReady: (url: string) => void;
}

/**
 * A whole API server on Redis: certificates and token from the data folder, made when they are missing.
 * @throws InvalidOptionError, StartupError
 */
export async function runApiServerProcess(
  options: ApiServerProcessOptions,
  { checks, flags, logger, metrics, onReady }: ApiServerProcess,
  signal: AbortSignal,
): Promise<void> {
  const compiled = compileApiServerProcessOptions(options);
  limitHeapGrowth(HEAP_GROWTH_PERCENT);
  const clock = new SystemClock();
  const url = compiled['redis-url'];
  await assertUsableRedis(url, { clock, timeoutMs: REDIS_TIMEOUT_MS, signal, logger });
  const storage = new RedisStorage({ url, clock, logger });
  const credentials = await prepareDataDir(compiled, clock.now());
  const server = new ApiServer({
    storage,
    kinds: createKindRegistry(kindsWith(compiled['feature-gates'])),
    schemas: createSchemaRegistry(schemasWith(compiled['feature-gates'])),
    clock,
    random: new SystemRandom(),
    logger,
    metrics,
    ...credentials,
    host: compiled.host,
    port: compiled.port,
    disabledAdmissionPlugins: compiled['disable-admission-plugins'],
    unknownServiceAccounts: compiled['unknown-service-accounts'],
    checks,
    flags: { ...shownFlags(compiled), ...flags },
  });
  const announce = async (listensAt: string): Promise<void> => {
    await writeOwnKubeconfig(compiled, listensAt, credentials);
    onReady(listensAt);
  };
  await runTogether(storage, server, announce, signal);
}

/** For `/flagz`. The store's address may hold a password. */
function shownFlags(options: CompiledApiServerProcessOptions): Record<string, string> {
  const given = Object.entries<unknown>(options).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    'feature-gates': [...options['feature-gates']].map((gate) => `${gate}=true`).join(','),
    'redis-url': 'CLASSIFIED',
  };
}

type Credentials = Awaited<ReturnType<typeof prepareDataDir>>;

async function writeOwnKubeconfig(
  { 'advertise-host': advertised, kubeconfig }: CompiledApiServerProcessOptions,
  listensAt: string,
  { tls, token }: Credentials,
): Promise<void> {
  if (kubeconfig === undefined) return;
  const url = new URL(listensAt);
  // If it listens on every address, this machine is one of them.
  url.hostname = advertised ?? (url.hostname === '0.0.0.0' ? '127.0.0.1' : url.hostname);
  await writeKubeconfig({ path: kubeconfig, server: url.origin, caPem: tls?.ca, token }).catch(
    (error: Error) => {
      throw new StartupError(`cannot write the kubeconfig ${kubeconfig}: ${error.message}`, { cause: error });
    },
  );
}

async function prepareDataDir(options: CompiledApiServerProcessOptions, nowMs: number) {
  const dir = options['data-dir'];
  await claimDataFolder(dir);
  const named = options['token-file'];
  const token = await (named === undefined
    ? ensureTokenFile(join(dir, 'token'))
    : ensureTokenFile(named, { isNamed: true }));
  const tls = options.insecure ? undefined : await ensureTlsFiles({ dir, nowMs, hosts: hostsOf(options) });
  const authFile = options['token-auth-file'];
  return {
    token,
    tls,
    users: authFile === undefined ? [] : await readTokenUsers(authFile),
    clientCa: await readClientCa(options, tls),
    signingKey: await ensureSigningKeyFile(join(dir, 'service-account.key')),
  };
}

async function readClientCa(
  { 'client-ca-file': path }: CompiledApiServerProcessOptions,
  tls: TlsMaterial | undefined,
): Promise<string | undefined> {
  if (path === undefined) return tls?.ca;
  return readNamedFile(path).catch((error: Error) => {
    throw new StartupError(`cannot read --client-ca-file: ${error.message}`, { cause: error });
  });
}

function hostsOf({ 'advertise-host': advertised, host }: CompiledApiServerProcessOptions): string[] {
  return [...(host === '0.0.0.0' ? [] : [host]), ...(advertised === undefined ? [] : [advertised])];
}

/** The store stops last: requests in flight still need it. If it fails, the server stops as well. */
async function runTogether(
  storage: RedisStorage,
  server: ApiServer,
  announce: (url: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const storeStop = new AbortController();
  const failed = new AbortController();
  const storeRun = storage.run(storeStop.signal);
  storeRun.catch(() => failed.abort());
  const announced = server.ready.then(({ url }) => announce(url));
  announced.catch(() => failed.abort());
  try {
    await storage.ping().catch((error: unknown) => {
      throw new StartupError(`the store cannot be used: ${errorMessage(error)}`, { cause: error });
    });
    await server.run(AbortSignal.any([signal, failed.signal]));
    await announced;
  } finally {
    storeStop.abort();
    await storeRun;
  }
}
