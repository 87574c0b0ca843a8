import { FakeClock } from '../../machinery/clock/index.js';
import { MemoryLease, MemoryResourceLock } from './memory-resource-lock.js';
import { runResourceLockContract } from '../../testing/resource-lock-contract.js';

runResourceLockContract('MemoryResourceLock', async () => {
  const clock = new FakeClock();
  const lease = new MemoryLease(clock);
  return {
    lock: (identity) => new MemoryResourceLock(lease, identity),
    pass: (ms) => clock.advance(ms),
    saved: async () => {
      const goBack = lease.saved();
      return async () => goBack();
    },
    stop: async () => undefined,
  };
});
