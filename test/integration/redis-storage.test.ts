import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type { RedisStorageOptions } from '../../src/apiserver/storage/index.js';
import { RedisStorage } from '../../src/apiserver/storage/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { runQuotaContract } from '../../src/testing/quota-contract.js';
import type { StorageUnderTest } from '../../src/testing/storage-contract.js';
import { runStorageContract } from '../../src/testing/storage-contract.js';

runStorageContract('RedisStorage', async (options) => start(options));

// Small enough that most watches and pages have to read the log in Redis.
runStorageContract('RedisStorage with next to no memory', async (options) =>
  start({ ...options, maxRingEntries: 3 }),
);

async function start(options: Omit<RedisStorageOptions, 'url'>): Promise<StorageUnderTest> {
  const url = inject('redisUrl');
  const storage = new RedisStorage({ watchBatchMs: 0, ...options, url, keyPrefix: `test-${randomUUID()}:` });
  const stop = new AbortController();
  const running = storage.run(stop.signal);
  return {
    storage,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

runQuotaContract('RedisStorage', async () => start({ clock: new SystemClock() }));
