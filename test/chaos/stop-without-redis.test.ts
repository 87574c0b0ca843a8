import { join } from 'node:path';
import { expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';
import { ChaosSet } from './set/chaos-set.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');

it('a replica ends when it is told to, although Redis is away', async () => {
  const set = await ChaosSet.start({ dist: DIST, replicas: 1, random: Math.random });
  try {
    const [replica] = set.replicas;
    if (!replica) throw new Error('there is no replica');
    const { pid } = replica.process;
    replica.redisLink.cut();
    replica.process.signal('SIGTERM');
    await waitFor(() => replica.process.pid !== pid, { timeoutMs: 15_000, what: 'the replica to end' });
    expect(replica.process.deaths).toHaveLength(1);
  } finally {
    set.heal();
    await set.stop();
    set.remove();
  }
});
