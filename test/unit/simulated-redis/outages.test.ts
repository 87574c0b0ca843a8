import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RedisStorage } from '../../../src/apiserver/storage/index.js';
import { BullMqWorkQueue, RedisActivationQueue, RedisResourceLock } from '../../../src/redis/index.js';
import { useSimulatedTime } from './simulated-time.js';

const time = useSimulatedTime();
let made = 0;

describe('a storage on a simulated Redis', () => {
  let storage: RedisStorage;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    const { clock, server } = time;
    storage = new RedisStorage({ clock, url: server.url, keyPrefix: `storage-${++made}:`, watchBatchMs: 0 });
    stop = new AbortController();
    running = storage.run(stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });

  const create = (name: string) =>
    storage.create(
      { resource: 'pods', namespace: 'ns', name },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns' } },
    );

  it('hands out no revision again that a fail-over lost', async () => {
    await create('kept');
    const before = time.server.snapshot();
    const { revision } = await create('lost');
    time.server.stop();
    time.server.start(before);
    expect(await storage.get({ resource: 'pods', namespace: 'ns', name: 'lost' })).toBeUndefined();
    expect((await create('new')).revision).toBeGreaterThan(revision);
  });

  it('refuses writes while there is no memory, reads on, and writes again afterwards', async () => {
    await create('before');
    time.server.faults.full = true;
    await expect(create('refused')).rejects.toThrow();
    expect(await storage.get({ resource: 'pods', namespace: 'ns', name: 'before' })).toBeDefined();
    time.server.faults.full = false;
    await create('after');
    expect(await storage.get({ resource: 'pods', namespace: 'ns', name: 'refused' })).toBeUndefined();
  });
});

describe('a queue on a simulated Redis', () => {
  it('tells a leader that its term is gone with the data', async () => {
    const { clock, server } = time;
    const queue = new RedisActivationQueue({
      name: 'test',
      redisUrl: server.url,
      keyPrefix: `lost-${++made}`,
      clock,
    });
    const term = await queue.beginTerm({ epoch: 1, holder: 'a' });
    await term.check();
    server.stop();
    server.start('nothing');
    await expect(term.check()).rejects.toMatchObject({ code: 'SUPERSEDED' });
    await queue.close();
  });
});

describe('the maintenance of a queue whose server got an earlier clock', () => {
  it('lets dead workers be looked for as soon as ever, and ends their locks in time', async () => {
    const { clock, server } = time;
    const keyPrefix = `clock-${++made}`;
    const queue = new BullMqWorkQueue({ name: 'test', redisUrl: server.url, keyPrefix, clock });
    const { lockDurationMs, stalledIntervalMs } = queue.options;
    const bull = `{${keyPrefix}:queue:test}:test:`;
    const anHour = String(3_600_000);
    server.ask('SET', `${bull}stalled-check`, '1', 'PX', anHour);
    server.ask('RPUSH', `${bull}active`, 'job');
    server.ask('SET', `${bull}job:lock`, 'token', 'PX', anHour);
    await queue.maintain();
    expect(server.ask('PTTL', `${bull}stalled-check`)).toBeLessThanOrEqual(stalledIntervalMs);
    expect(server.ask('PTTL', `${bull}job:lock`)).toBeLessThanOrEqual(lockDurationMs);
    await queue.close();
  });
});

describe('a lease on a simulated Redis', () => {
  it('is renewed by its holder after the server has forgotten every script', async () => {
    const lock = new RedisResourceLock({
      url: time.server.url,
      keyPrefix: `lease-${++made}:`,
      identity: 'a',
    });
    expect((await lock.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    time.server.forgetScripts();
    expect((await lock.tryAcquireOrRenew(60_000)).outcome).toBe('renewed');
    lock.close();
  });

  it('is answered as the first time when the answer was lost with the connection', async () => {
    const lock = new RedisResourceLock({
      url: time.server.url,
      keyPrefix: `lease-${++made}:`,
      identity: 'a',
    });
    await lock.get();
    const [link] = time.server.clients.filter(({ name }) => name === 'lease').slice(-1);
    link?.connection.silence('reply');
    const asked = lock.tryAcquireOrRenew(60_000);
    await time.pass(1);
    link?.connection.reset();
    expect((await asked).outcome).toBe('acquired');
    lock.close();
  });
});
