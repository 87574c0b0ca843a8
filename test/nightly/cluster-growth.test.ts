import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { LONG_WORKLOADS } from '../support/growth/long-workloads.js';
import { growth, processorTime } from '../support/growth/measure.js';

const ENTRIES = 250;

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(() => cluster.stop());

// Controllers, the scheduler and nodes work for all users on one thread each.
it.each(Object.entries(LONG_WORKLOADS))(
  'the work of a cluster for an object grows no faster than its %s',
  { timeout: 240_000 },
  async (name, workload) => {
    const spent = (length: number) => () =>
      processorTime(async () => {
        const objects = await cluster.apply(workload(length));
        await cluster.settled({ timeoutMs: 100_000 });
        for (const object of objects) await cluster.delete(object, { propagationPolicy: 'Background' });
        await cluster.settled({ timeoutMs: 100_000 });
      });
    const { isSteep, largeMs, smallMs } = await growth(spent(ENTRIES), spent(8 * ENTRIES));
    expect(isSteep, `${smallMs} ms, eight times: ${largeMs} ms`).toBe(false);
  },
);
