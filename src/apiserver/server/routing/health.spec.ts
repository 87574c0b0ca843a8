import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { handleHealth } from './health.js';
import { HealthSlis } from './health-slis.js';

let slis: HealthSlis;
beforeEach(() => {
  slis = new HealthSlis();
});

async function probe(
  url: string,
  { hasStore = true, isHung = false, unreadable = [] as string[] } = {},
): Promise<{ status: number; text: string }> {
  const [path = '', query = ''] = url.split('?');
  const clock = new FakeClock();
  const storage = {
    assertWritable: () => {
      if (isHung) return new Promise<never>(() => undefined);
      return hasStore ? Promise.resolve() : Promise.reject(new Error('redis.internal is away'));
    },
  };
  const parts = { storage, clock, unreadable: { names: unreadable }, slis };
  const answering = handleHealth(parts, { path, query: new URLSearchParams(query) });
  await clock.advance(1000);
  const { raw, status } = await answering;
  expect(clock.pendingTimers).toBe(0);
  return { status, text: raw.toString() };
}

describe('the health of the server', () => {
  it.each(['/healthz', '/livez', '/readyz', '/livez/ping', '/readyz/poststarthook/rbac/bootstrap-roles'])(
    '%s is ok while the store answers',
    async (path) => {
      expect(await probe(path)).toEqual({ status: 200, text: 'ok' });
    },
  );

  it.each([
    ['/healthz', '[-]etcd failed: reason withheld'],
    ['/readyz', '[-]poststarthook/storage-readiness failed: reason withheld'],
  ])('%s fails without the store, says at which check, and not why', async (path, line) => {
    const { status, text } = await probe(path, { hasStore: false });
    expect(status).toBe(500);
    expect(text.split('\n')).toContain(line);
    expect(text).toContain('[+]ping ok\n');
    expect(text).toMatch(new RegExp(`\n${path.slice(1)} check failed\n$`));
    expect(text).not.toContain('redis.internal');
  });

  it('fails after a second while the store hangs, before those who ask give up', async () => {
    const { status, text } = await probe('/readyz', { isHung: true });
    expect(status).toBe(500);
    expect(text).toContain('[-]poststarthook/storage-readiness failed: reason withheld\n');
  });

  it('/livez lives without the store, and says that it did not ask it', async () => {
    expect(await probe('/livez', { hasStore: false })).toEqual({ status: 200, text: 'ok' });
    expect((await probe('/livez?verbose')).text).toContain('[+]etcd excluded: ok\n');
    expect((await probe('/livez/etcd', { hasStore: false })).status).toBe(500);
  });

  it('leaves out the checks that are excluded, and warns of those that there are not', async () => {
    const { status, text } = await probe('/healthz?verbose&exclude=etcd&exclude=nope&exclude=poststarthook/storage-readiness', {
      hasStore: false,
    }); // prettier-ignore
    expect(status).toBe(200);
    expect(text).toContain('[+]etcd excluded: ok\n');
    expect(text).toContain('warn: some health checks cannot be excluded: no matches for "nope"\n');
    expect(text).toMatch(/\nhealthz check passed\n$/);
  });

  it('says how many objects cannot be understood, and not which', async () => {
    const { text } = await probe('/readyz?verbose', { unreadable: ['secrets a/b'] });
    expect(text).toContain('[!]objects: 1 in the store cannot be understood, the log names them\n');
    expect(text).not.toContain('a/b');
  });

  it('is written down check by check, until that is begun again', async () => {
    await probe('/readyz');
    await probe('/readyz', { hasStore: false });
    const text = slis.serialize();
    expect(text).toContain('# TYPE kubernetes_healthcheck gauge\n');
    expect(text).toContain('kubernetes_healthcheck{name="ping",type="readyz"} 1\n');
    expect(text).toContain(
      'kubernetes_healthcheck{name="poststarthook/storage-readiness",type="readyz"} 0\n',
    );
    expect(text).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 2\n');
    for (const status of ['error', 'success'])
      expect(text).toContain(
        `kubernetes_healthchecks_total{name="poststarthook/storage-readiness",status="${status}",type="readyz"} 1\n`,
      );
    expect(text).not.toContain('livez');
    slis.reset();
    expect(slis.serialize()).toBe('');
  });
});
