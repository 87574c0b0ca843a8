import { runStorageContract } from '../../testing/storage-contract.js';
import { MemoryStorage } from './memory-storage.js';

runStorageContract('MemoryStorage', async (options) => {
  const storage = new MemoryStorage(options);
  const stop = new AbortController();
  const running = storage.run(stop.signal);
  return {
    storage,
    async stop() {
      stop.abort();
      await running;
    },
  };
});
