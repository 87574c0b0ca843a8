import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { ChaosSet } from '../chaos/set/chaos-set.js';
import type { ReplicaAnswers } from '../chaos/set/replica-answers.js';
import { aDeployment } from './support/a-deployment.js';
import type { Replica } from './support/replica-set-up.js';
import { ReplicaSetUp } from './support/replica-set-up.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');

/** Rows of docs/HEALTH.md that a test here has shown; at the end they must be all that it has. */
const shown = new Set<string>();

interface Answer {
  /** `timeout` where none came. */
  readonly status: number | 'timeout';
  readonly failed: readonly string[];
}

const ENDPOINTS = ['livez', 'readyz', 'healthz'] as const;
type Answers = Record<(typeof ENDPOINTS)[number], Answer>;

/** The answer to a probe of ten seconds; the checks have 1.5 of their own. */
async function probe(adminUrl: string, endpoint: string, timeoutMs = 10_000): Promise<Answer> {
  try {
    const response = await fetch(`${adminUrl}/${endpoint}?verbose`, {
      signal: AbortSignal.timeout(timeoutMs),
    });
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith('[-]'));
    return { status: response.status, failed: lines.map((line) => /^\[-\](\S+)/.exec(line)?.[1] ?? '') };
  } catch {
    return { status: 'timeout', failed: [] };
  }
}

async function probeAll({ adminUrl }: Pick<Replica, 'adminUrl'>, timeoutMs?: number): Promise<Answers> {
  const [livez, readyz, healthz] = await Promise.all(
    ENDPOINTS.map((endpoint) => probe(adminUrl, endpoint, timeoutMs)),
  );
  return { livez, readyz, healthz } as Answers;
}

/** Waits until the endpoints say what the table's row says: `failed` are the checks of readyz that fail. */
async function expectRow(
  row: string,
  replica: Replica,
  expected: { readonly readyFails?: readonly string[]; readonly timeoutMs?: number },
): Promise<void> {
  const failed = [...(expected.readyFails ?? [])].sort();
  const status = failed.length === 0 ? 200 : 503;
  const wanted: Answers = {
    livez: { status: 200, failed: [] },
    readyz: { status, failed },
    healthz: { status, failed },
  };
  let last: Answers | undefined;
  await waitFor(
    async () => {
      last = await probeAll(replica);
      // No failure of a dependency may make the kubelet restart the process.
      expect(last.livez).toEqual(wanted.livez);
      return JSON.stringify(last) === JSON.stringify(wanted);
    },
    { timeoutMs: expected.timeoutMs ?? 30_000, intervalMs: 100, what: row },
  ).catch(() => expect(last).toEqual(wanted));
  shown.add(row);
}

const CONTROLLERS = ['deployment', 'experiments', 'garbage-collector', 'namespace', 'replicaset'].map(
  (name) => `controller-${name}`,
);

/** Keeps the first creation at such a path from the server, and with it the sync that waits for its answer. */
function holdUp(
  answers: ReplicaAnswers,
  path: RegExp,
): { readonly isHeld: boolean; release(this: void): void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = { isHeld: false, release };
  answers.onWrite = async (write) => {
    if (write.when !== 'before' || write.method !== 'POST' || !path.test(write.path)) return;
    held.isHeld = true;
    await released;
  };
  return held;
}

function mustExist<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it does not exist');
  return value;
}

describe('the endpoints’ word about a fault', () => {
  let redis: TestRedisServer;
  let setUp: ReplicaSetUp;
  let server: ChildProcess;
  let replica: Replica;
  let other: Replica;

  beforeAll(async () => {
    redis = await startTestRedisServer();
    setUp = new ReplicaSetUp(redis.url);
    await setUp.startApiServer();
    await setUp.stopApiServer();
    replica = await setUp.startReplica('replica-0');
  });

  afterAll(async () => {
    await setUp.stop();
    await redis.stop();
  });

  afterEach(() => {
    for (const pid of [redis.pid, replica.process.pid ?? 0]) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // Gone by now.
      }
    }
  });

  const leads = async ({ adminUrl }: Replica): Promise<boolean> => {
    const text = await (await fetch(`${adminUrl}/admin/status`)).text();
    return (JSON.parse(text) as { leader: boolean }).leader;
  };

  it('starting while the API is away: alive, not ready', async () => {
    await expectRow('starting while the API server is away', replica, {
      readyFails: ['api', ...CONTROLLERS, 'informers-synced', 'running'],
    });
  });

  it('all well: alive and ready, leading or not', async () => {
    await setUp.startApiServer();
    other = await setUp.startReplica('replica-1');
    await expectRow('none', replica, {});
    await expectRow('none', other, {});
    await waitFor(async () => (await leads(replica)) || (await leads(other)), { what: 'a leader' });
  });

  it('the API server stopped: alive, not ready, and ready again with it', async () => {
    await setUp.stopApiServer();
    await expectRow('API server stopped', replica, { readyFails: ['api'] });
    server = await setUp.startApiServer();
    await expectRow('none', replica, {});
  });

  it('the API server hanging: as if it were stopped', async () => {
    server.kill('SIGSTOP');
    await expectRow('API server hanging', replica, { readyFails: ['api'] });
    server.kill('SIGCONT');
    await expectRow('none', replica, {});
  });

  it('one controller’s queue paused by somebody: that controller is named', async () => {
    const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
    const queue = new Queue('deployment', { prefix: '{rollkeeper:queue:deployment}', connection });
    await queue.pause();
    await expectRow('queue of one controller paused', replica, { readyFails: ['controller-deployment'] });
    await queue.resume();
    await expectRow('none', replica, {});
    await queue.close();
    connection.disconnect();
  });

  it('the lease lost to another replica: alive and ready, for it works on', async () => {
    const [leader, follower] = (await leads(replica)) ? [replica, other] : [other, replica];
    leader.process.kill('SIGSTOP');
    const frozen = await probeAll(leader, 1000);
    expect(Object.values(frozen).map(({ status }) => status)).toEqual(['timeout', 'timeout', 'timeout']);
    shown.add('process frozen');
    await waitFor(() => leads(follower), { what: 'the other to lead' });
    leader.process.kill('SIGCONT');
    await expectRow('lease lost to another replica', leader, {});
    expect(await leads(leader)).toBe(false);
  });

  it('Redis hanging: alive, not ready', async () => {
    process.kill(redis.pid, 'SIGSTOP');
    await waitFor(
      async () => {
        const { livez, readyz } = await probeAll(replica);
        expect(livez).toEqual({ status: 200, failed: [] });
        return readyz.status === 503 && readyz.failed.includes('redis');
      },
      { what: 'readiness to fail' },
    );
    shown.add('Redis hanging');
    process.kill(redis.pid, 'SIGCONT');
    await expectRow('none', replica, {});
  });

  it('Redis stopped: alive, not ready; the leader has given up its lease', async () => {
    await redis.stop();
    // The controllers that work on the leader alone stand by where the replica does not lead.
    const ofLeader = ['controller-experiments', 'controller-garbage-collector'];
    const consumers = CONTROLLERS.filter((name) => !ofLeader.includes(name));
    await expectRow('Redis stopped', replica, { readyFails: [...consumers, 'redis'] });
    // It cannot know for certain before its lease has run out.
    await waitFor(async () => !(await leads(replica)), { what: 'the leader to give up its lease' });
  });

  it('stopping: not ready from the first moment, alive while its last key is worked on, then gone', async () => {
    const set = await ChaosSet.start({
      dist: DIST,
      replicas: 1,
      random: () => 0,
      // However long the looks take: the last key is let go by this test, not by the clock.
      controllerArgs: ['--drain-timeout-ms', '60000'],
    });
    try {
      const { apiAnswers, process } = mustExist(set.replicas[0]);
      const { adminUrl } = process;
      const write = holdUp(apiAnswers, /\/replicasets$/);
      await set.client.create(Deployment, aDeployment({ name: 'web' }));
      await waitFor(() => write.isHeld, { what: 'a sync to be in the midst of a write' });
      process.signal('SIGTERM');
      await waitFor(
        async () => {
          const { healthz, livez, readyz } = await probeAll({ adminUrl });
          expect(livez).toEqual({ status: 200, failed: [] });
          if (readyz.status === 200) return false;
          expect(readyz).toMatchObject({
            status: 503,
            failed: expect.arrayContaining(['running']) as unknown,
          });
          // Beside it, at most, the consumers that have ended already; a busy machine may be late to hear of Redis, which passes.
          const others = readyz.failed.filter((name) => name !== 'running' && !CONTROLLERS.includes(name));
          return healthz.status === 503 && others.length === 0;
        },
        { what: 'readiness to fail' },
      );
      expect(process.deaths).toEqual([]);
      write.release();
      await waitFor(() => process.deaths.length > 0, { what: 'it to end' });
      expect(process.deaths).toEqual([expect.objectContaining({ code: 0 })]);
      expect((await probe(adminUrl, 'livez', 1000)).status).toBe('timeout');
      shown.add('stopping');
    } finally {
      set.heal();
      await set.stop();
      set.remove();
    }
  });

  it('is what docs/HEALTH.md says, row by row', () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'HEALTH.md'), 'utf8');
    const rows = text.split('\n').filter((line) => /^\| (?!Fault|-)/.test(line) && line.includes('e2e'));
    const named = rows.map((line) => line.split('|')[1]?.trim());
    expect(new Set(named)).toEqual(shown);
  });
});
