import type { RedisStorageOptions } from '../../../src/apiserver/storage/index.js';
import { RedisStorage } from '../../../src/apiserver/storage/index.js';
import type { StorageUnderTest } from '../../../src/testing/storage-contract.js';
import { runStorageContract } from '../../../src/testing/storage-contract.js';
import { useSimulatedTime } from './simulated-time.js';

const time = useSimulatedTime();
let made = 0;

runStorageContract('RedisStorage on a simulated Redis', async (options) => start(options));

runStorageContract('RedisStorage with next to no memory on a simulated Redis', async (options) =>
  start({ ...options, maxRingEntries: 3 }),
);

async function start(options: Omit<RedisStorageOptions, 'url'>): Promise<StorageUnderTest> {
  const { url } = time.server;
  const storage = new RedisStorage({ watchBatchMs: 0, ...options, url, keyPrefix: `test-${++made}:` });
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
