import { describe } from 'vitest';
import { BullMqWorkQueue, RedisActivationQueue } from '../../src/redis/index.js';
import { runKeyStateContract } from '../../src/testing/key-state-contract.js';
import { propertyRuns } from '../../src/testing/property-runs.js';
import { runWorkQueueContract } from '../../src/testing/work-queue-contract.js';
import { queuesOn } from '../unit/simulated-redis/queue-harness.js';
import { useSimulatedTime } from '../unit/simulated-redis/simulated-time.js';

const time = useSimulatedTime();

describe.each([
  { name: 'BullMqWorkQueue', Queue: BullMqWorkQueue },
  { name: 'RedisActivationQueue', Queue: RedisActivationQueue },
])('$name on a simulated Redis', ({ name, Queue }) => {
  runWorkQueueContract(name, queuesOn(time, Queue), {
    ...propertyRuns({ gate: 5, nightly: 30 }),
    endOnFailure: true,
  });
  runKeyStateContract(name, queuesOn(time, Queue), { coverage: 'parts' });
});
