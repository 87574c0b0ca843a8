import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { WorkItem } from '../../src/runtime/work-queue/index.js';
import type { OneStepAdds, StartedLock } from '../../src/runtime/activation/index.js';
import { BullMqWorkQueueConsumer, RedisActivationQueue, RedisActorRuntime } from '../../src/redis/index.js';

const clock = new SystemClock();

/** Without the check of a new connection, whose answer may come after the first thing that is seen. */
const monitorOf = (redis: Redis): Promise<Redis> =>
  redis.duplicate({ enableReadyCheck: false, lazyConnect: true }).monitor();
const KEY = 'ns/a';

describe('a queue and actors on one server', () => {
  /** Its own: on a busy one, the first thing that is seen may come before the client knows that it monitors. */
  let server: TestRedisServer;
  let redisUrl: string;
  let keyPrefix: string;
  let redis: Redis;
  let queue: RedisActivationQueue;
  let adds: Required<OneStepAdds>;
  let runtime: RedisActorRuntime;
  let stop: AbortController;
  let consuming: Promise<void>;

  beforeAll(async () => {
    server = await startTestRedisServer();
    redisUrl = server.url;
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    keyPrefix = randomUUID();
    redis = new Redis(redisUrl);
    queue = new RedisActivationQueue({ name: 'test', redisUrl, keyPrefix, clock });
    adds = await queue.beginTerm({ epoch: 1, holder: 'a' });
    runtime = new RedisActorRuntime({ redisUrl, keyPrefix, clock });
    stop = new AbortController();
    consuming = Promise.resolve();
  });

  afterEach(async () => {
    stop.abort();
    await consuming;
    await Promise.all([queue.close(), runtime.close()]);
    redis.disconnect();
  });

  function consume(handler: (item: WorkItem & StartedLock, signal: AbortSignal) => Promise<void>): void {
    const consumer = new BullMqWorkQueueConsumer({ queue });
    consuming = consumer.run(handler, { concurrency: 1 }, stop.signal);
  }

  const isLocked = async (): Promise<boolean> =>
    (await redis.hexists(`{${keyPrefix}:actor:test:${KEY}}`, 'owner')) === 1;

  it('a run must have seen what was added with its key, the newest of each resource', async () => {
    await adds.addWithCauses(KEY, { pods: '7', 'replicasets.apps': '3' });
    await adds.addWithCauses(KEY, { pods: '6', 'deployments.apps': '9' });
    const seen: unknown[] = [];
    consume((item, signal) =>
      runtime.activate('test', item.key, signal, async ({ mustHaveSeen }) => void seen.push(mustHaveSeen), {
        early: item.early,
      }),
    );
    await waitFor(() => seen.length > 0, { what: 'the run' });
    expect(seen).toEqual([{ pods: '7', 'replicasets.apps': '3', 'deployments.apps': '9' }]);
    await waitFor(async () => !(await isLocked()), { what: 'the lock to be let go' });
  });

  it('a run holds the lock of its own actor where the prefix of the installation has an asterisk', async () => {
    const starred = { redisUrl, keyPrefix: `${keyPrefix}*`, clock };
    const own = new RedisActivationQueue({ name: 'test', ...starred });
    await own.add(KEY);
    const held: number[] = [];
    consuming = new BullMqWorkQueueConsumer({ queue: own }).run(
      async () => void held.push(await redis.hexists(`{${keyPrefix}*:actor:test:${KEY}}`, 'owner')),
      { concurrency: 1 },
      stop.signal,
    );
    await waitFor(() => held.length > 0, { what: 'the run' });
    expect(held).toEqual([1]);
    stop.abort();
    await consuming;
    await own.close();
  });

  it('a run that starts holds the lock already, and nobody else gets it', async () => {
    await queue.add(KEY);
    const errors: unknown[] = [];
    consume(async (item, signal) => {
      expect(await isLocked()).toBe(true);
      await runtime.activate('test', KEY, signal, async () => undefined).catch((error) => errors.push(error));
      await runtime.activate('test', KEY, signal, async () => undefined, { early: item.early });
    });
    await waitFor(async () => errors.length > 0 && !(await isLocked()), { what: 'both tries' });
    expect(errors).toMatchObject([{ code: 'KEY_LOCK_HELD' }]);
  });

  it('a run that finds the lock held elsewhere is told for how long', async () => {
    const errors: unknown[] = [];
    await runtime.activate('test', KEY, stop.signal, async () => {
      await queue.add(KEY);
      consume(async (item, signal) => {
        const work = runtime.activate('test', KEY, signal, async () => undefined, { early: item.early });
        await work.catch((error: unknown) => errors.push(error));
      });
      await waitFor(() => errors.length > 0, { what: 'the second run' });
    });
    const [{ code, retryAfterMs }] = errors as [{ code: string; retryAfterMs: number }];
    expect(code).toBe('KEY_LOCK_HELD');
    expect(retryAfterMs).toBeGreaterThan(0);
  });

  it('a lock that was taken for a run which is cancelled at once is let go', async () => {
    await queue.add(KEY);
    const errors: unknown[] = [];
    consume(async (item) => {
      const cancelled = AbortSignal.abort(new Error('cancelled'));
      const work = runtime.activate('test', KEY, cancelled, async () => undefined, { early: item.early });
      await work.catch((error: unknown) => errors.push(error));
    });
    await waitFor(() => errors.length > 0, { what: 'the run' });
    expect(errors).toMatchObject([{ message: 'cancelled' }]);
    expect(await isLocked()).toBe(false);
  });

  it('the end of a run, the completion of its key and the start of the next run are one command', async () => {
    for (const name of ['a', 'b', 'c']) await adds.addWithCauses(`ns/${name}`, { pods: '1' });
    const monitor = await monitorOf(redis);
    const sent: string[] = [];
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      if (source !== 'lua') sent.push(args.join(' '));
    });
    const seen: unknown[] = [];
    consume((item, signal) =>
      runtime.activate('test', item.key, signal, async ({ mustHaveSeen }) => void seen.push(mustHaveSeen), {
        early: item.early,
      }),
    );
    const hasEnded = (name: string): Promise<number> =>
      redis.hexists(`{${keyPrefix}:actor:test:ns/${name}}`, 'released');
    const haveEnded = async (): Promise<boolean> =>
      !(await Promise.all(['a', 'b', 'c'].map(hasEnded))).includes(0);
    await waitFor(haveEnded, { what: 'all runs to have ended' });
    await redis.get(`${keyPrefix}:end`);
    await waitFor(() => sent.includes(`get ${keyPrefix}:end`), { what: 'the end to be seen' });
    monitor.disconnect();
    expect(seen).toEqual([{ pods: '1' }, { pods: '1' }, { pods: '1' }]);
    // The end of one run takes the next key along. A server is sent the text of a script that it does not have, with the first.
    const ofRun = (name: string) => (command: string) =>
      /^eval/i.test(command) && command.includes(`:actor:test:ns/${name}}`);
    for (const name of ['b', 'c']) expect(sent.filter(ofRun(name))).toHaveLength(1);
    expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0 });
    // An answer with a job and the state of its actor is kept only while no other worker can have the job.
    const answers = await redis.keys(`{${keyPrefix}:queue:test}:state:answer:*`);
    const left = await Promise.all(answers.map((key) => redis.pttl(key)));
    expect(Math.max(...left)).toBeLessThanOrEqual(queue.options.lockDurationMs);
  });

  it('a key whose lock was lost before its run ended runs again, and must have seen what that run wrote', async () => {
    await queue.add(KEY);
    const seen: unknown[] = [];
    consume(async (item, signal) => {
      await runtime.activate(
        'test',
        KEY,
        signal,
        async (activation) => {
          seen.push(activation.mustHaveSeen);
          if (seen.length === 1) activation.recordOwnWrite('pods', '9');
        },
        { early: item.early },
      );
      const taken = { owner: 'another', token: '9000000000000000', until: '0' };
      if (seen.length === 1) await redis.hset(`{${keyPrefix}:actor:test:${KEY}}`, taken);
    });
    await waitFor(() => seen.length > 1, { what: 'the second run' });
    expect(seen).toEqual([{}, { pods: '9' }]);
    await waitFor(async () => !(await isLocked()), { what: 'the lock to be let go' });
    expect(await queue.counts()).toMatchObject({ waiting: 0, parked: 0 });
  });

  it('a run that another worker has taken over lets go of its lock without completing the key', async () => {
    await queue.add(KEY);
    const ended = Promise.withResolvers<void>();
    let runs = 0;
    consume(async (item, signal) => {
      runs += 1;
      if (runs > 1) return;
      await runtime.activate('test', KEY, signal, async () => undefined, { early: item.early });
      const [jobId = ''] = await redis.lrange(`{${keyPrefix}:queue:test}:test:active`, 0, -1);
      await redis.set(`{${keyPrefix}:queue:test}:test:${jobId}:lock`, 'of another worker');
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ended.resolve();
    });
    await ended.promise;
    await waitFor(async () => !(await isLocked()), { what: 'the lock to be let go' });
    expect(await queue.counts()).toMatchObject({ active: 1 });
  });

  it('scripts of both are sent again to a server that has forgotten them', async () => {
    await adds.addWithCauses(KEY, { pods: '1' });
    await redis.script('FLUSH');
    await adds.addWithCauses(KEY, { pods: '2' });
    expect(await redis.hget(`{${keyPrefix}:actor:test:${KEY}}`, 'cause:pods')).toBe('2');
  });

  it('nobody can get a key before its causes are recorded, also where the server has forgotten the script', async () => {
    await redis.script('FLUSH');
    // Makes the rest known again: only what records the causes has to be sent twice.
    await queue.add('ns/other');
    const monitor = await monitorOf(redis);
    const commands: string[] = [];
    monitor.on('monitor', (_time: string, args: string[]) => commands.push(args.join(' ')));
    await adds.addWithCauses(KEY, { pods: '1' });
    const recorded = (): number => commands.findIndex((command) => /^hset .* cause:pods 1$/i.test(command));
    const runnable = (): number =>
      commands.findIndex((command) => /^zadd \S*:prioritized /i.test(command) && command.includes(keyPrefix));
    await waitFor(() => recorded() >= 0 && runnable() >= 0, { what: 'both steps to be seen' });
    monitor.disconnect();
    expect(recorded()).toBeLessThan(runnable());
  });

  it('refuses an add with causes once another term has begun, and nobody gets the key', async () => {
    await queue.beginTerm({ epoch: 2, holder: 'b' });
    const refused = { code: 'SUPERSEDED', epoch: 2 };
    await expect(adds.addWithCauses(KEY, { pods: '7' })).rejects.toMatchObject(refused);
    expect(await queue.inspectKey(KEY)).toEqual({ failures: 0, hasJob: false });
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, parked: 0 });
  });

  it('an add with causes under a term is one command, which the term stands in front of', async () => {
    await adds.addWithCauses('ns/other', { pods: '1' });
    const monitor = await monitorOf(redis);
    const commands: { name: string; text: string; source: string }[] = [];
    monitor.on('monitor', (_time: string, args: string[], source: string) =>
      commands.push({ name: args[0] ?? '', text: args.join(' '), source }),
    );
    await adds.addWithCauses(KEY, { pods: '1' });
    await redis.get(`${keyPrefix}:end`);
    const isEnd = ({ text }: { text: string }): boolean => text === `get ${keyPrefix}:end`;
    await waitFor(() => commands.some(isEnd), { what: 'the end to be seen' });
    monitor.disconnect();
    const ours = commands.filter((command) => command.text.includes(keyPrefix) && !isEnd(command));
    expect(ours.filter(({ source }) => source !== 'lua').map(({ name }) => name)).toEqual(['evalsha']);
    const inside = ours.filter(({ source }) => source === 'lua').map(({ text }) => text.toLowerCase());
    const termAt = inside.findIndex((text) => /^hmget \S*:state:term epoch holder$/.test(text));
    const jobAt = inside.findIndex((text) => /^zadd \S*:prioritized /.test(text));
    expect(termAt).toBeGreaterThanOrEqual(0);
    expect(jobAt).toBeGreaterThan(termAt);
  });

  it('turns a timer that fires into a key by one look and one step', async () => {
    await queue.addAfter(KEY, 60_000, { reason: 'requeue' });
    const due = String(Date.now() - 1000);
    await redis.zadd(`{${keyPrefix}:queue:test}:state:timers`, due, KEY);
    const scripts = async (): Promise<number> =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
    // The scripts are loaded with the first use.
    await queue.fireTimer('ns/none', '1');
    const before = await scripts();
    await queue.fireTimer(KEY, due);
    expect((await scripts()) - before).toBe(2);
    expect(await queue.counts()).toEqual({ waiting: 1, active: 0, delayed: 0, parked: 0 });
  });
});
