import { FakeClock } from '../../../../machinery/clock/index.js';
import { runQuotaContract } from '../../../../testing/quota-contract.js';
import { MemoryStorage } from '../../../storage/index.js';

runQuotaContract('memory', async () => {
  const storage = new MemoryStorage({ clock: new FakeClock() });
  const stopper = new AbortController();
  const run = storage.run(stopper.signal);
  return {
    storage,
    async stop() {
      stopper.abort();
      await run;
    },
  };
});
