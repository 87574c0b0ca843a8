import { RedisActivationQueue } from '../../../src/redis/index.js';
import { propertyRuns } from '../../../src/testing/property-runs.js';
import { runWorkQueueContract } from '../../../src/testing/work-queue-contract.js';
import { queuesOn } from './queue-harness.js';
import { useSimulatedTime } from './simulated-time.js';

const time = useSimulatedTime();

runWorkQueueContract('RedisActivationQueue on a simulated Redis', queuesOn(time, RedisActivationQueue), {
  ...propertyRuns({ gate: 2, nightly: 30 }),
  endOnFailure: true,
});
