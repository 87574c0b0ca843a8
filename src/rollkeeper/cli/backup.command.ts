import { counted } from '@rollkeeper/machinery/text';
import type { Command } from 'commander';
import { abortable } from '@rollkeeper/machinery/cancellation';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { StartupError } from '@rollkeeper/machinery/errors';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { print, runUntilStopped } from '@rollkeeper/machinery/process';
import { VERSION } from '@rollkeeper/machinery/version';
import type { RedisFlags } from './shared-options.js';
import { addRedisOptions, dataDirOption, redisUrlOf } from './shared-options.js';
import type { Storage } from '@rollkeeper/apiserver';

interface StoreFlags extends RedisFlags {
  readonly dataDir: string;
}

/** One command replaces a store of many objects. */
const COMMAND_TIMEOUT_MS = 30_000;
const OF_STORE = 'the Redis with the objects (default: that of `up` in the data folder)';

/** `rollkeeper backup`: all objects of the embedded API server in one file. */
export function registerBackupCommand(program: Command): void {
  addRedisOptions(program.command('backup'), OF_STORE)
    .description('write a consistent snapshot of all objects of the embedded API server to a file')
    .argument('<file>', 'gzip of JSON lines; replaced atomically')
    .addOption(dataDirOption())
    .action((file: string, flags: StoreFlags) =>
      runUntilStopped(async (signal) => {
        const { backUp } = await import('@rollkeeper/apiserver');
        const options = { clock: new SystemClock(), version: VERSION };
        const { objects, revision } = await withStorage(flags, { create: false, signal }, (storage) =>
          backUp(storage, file, options),
        );
        print(
          `${counted(objects, 'object')} at resourceVersion ${revision} ${objects === 1 ? 'is' : 'are'} in ${file}`,
        );
      }),
    );
}

/** `rollkeeper restore`: replaces the stored objects by those of a backup. */
export function registerRestoreCommand(program: Command): void {
  addRedisOptions(program.command('restore'), OF_STORE)
    .description('restore a backup to the store of the embedded API server, even while it is running')
    .argument('<file>', 'written by `backup`')
    .option('--replace', 'restore even if the store has objects; they are deleted')
    .addOption(dataDirOption())
    .action((file: string, flags: StoreFlags & { replace?: boolean }) =>
      runUntilStopped(async (signal) => {
        const { hasObjects, restore } = await import('@rollkeeper/apiserver');
        const { objects, revision } = await withStorage(
          flags,
          { create: true, signal },
          async (storage, url) => {
            if (!flags.replace && (await hasObjects(storage)))
              throw new StartupError('the store has objects; use --replace to delete them');
            const former = await clusterIn(storage);
            const restored = await restore(storage, file);
            await handOverKeys(url, { former, current: await clusterIn(storage) }, signal);
            return restored;
          },
        );
        print(
          `${counted(objects, 'object')} ${objects === 1 ? 'is' : 'are'} restored from ${file}; the store is at resourceVersion ${revision}`,
        );
      }),
    );
}

/** The identity by which replicas know a store's cluster. */
async function clusterIn(storage: Storage): Promise<string | undefined> {
  const stored = await storage.get({ resource: 'namespaces', namespace: '', name: 'kube-system' });
  return stored?.object.metadata.uid;
}

/**
 * If the backup is of another cluster, the store has become that cluster. What its replicas keep beside it becomes that
 * cluster's too, or they would refuse to start; running ones notice and exit, and their supervisor restarts them.
 */
async function handOverKeys(
  url: string,
  { current, former }: { readonly current: string | undefined; readonly former: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  if (former === undefined || current === undefined || former === current) return;
  const { RedisClusterClaims } = await import('@rollkeeper/redis');
  const { createRedisConnection } = await import('@rollkeeper/redis/connection');
  const connection = createRedisConnection({ url, connectionName: 'restore' });
  try {
    const clock = new SystemClock();
    const claims = new RedisClusterClaims({ redis: () => connection, keyPrefix: 'rollkeeper', clock });
    if ((await claims.owner()) === former) await claims.replace(former, current, signal);
  } finally {
    connection.disconnect();
  }
}

async function withStorage<T>(
  flags: StoreFlags,
  { create, signal }: { readonly create: boolean; readonly signal: AbortSignal },
  use: (storage: Storage, url: string) => Promise<T>,
): Promise<T> {
  const { RedisStorage } = await import('@rollkeeper/apiserver');
  const { assertUsableRedis } = await import('@rollkeeper/redis/connection');
  const clock = new SystemClock();
  const useAt = async (url: string): Promise<T> => {
    await assertUsableRedis(url, { clock, timeoutMs: 3000, option: '--redis-url' });
    const storage = new RedisStorage({ url, clock, commandTimeoutMs: COMMAND_TIMEOUT_MS });
    const stop = new AbortController();
    const running = storage.run(stop.signal);
    try {
      return await abortable(use(storage, url), signal);
    } finally {
      stop.abort();
      await running;
    }
  };
  const url = redisUrlOf(flags, process.env);
  if (url !== undefined) return useAt(url);
  const { withRedisOfDataFolder } = await import('../replica/supervisor/index.js');
  const logger = createPinoLogger({ level: 'warn', format: 'pretty', base: { role: 'store' } });
  return withRedisOfDataFolder({ dataDir: flags.dataDir, create, clock, logger }, useAt);
}
