import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import type { Issued } from './renewed-credentials.js';
import { RenewedCredentials } from './renewed-credentials.js';

let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock();
});

/** Issues `t1`, `t2`, … with the given lifetime. */
function issuer(goodForMs?: number, usableForMs?: number) {
  let count = 0;
  return vi.fn((): Promise<Issued> => {
    const until = (ms: number | undefined) => (ms === undefined ? undefined : clock.now() + ms);
    return Promise.resolve({
      headers: { authorization: `t${++count}` },
      renewAtMs: until(goodForMs),
      expiresAtMs: until(usableForMs),
    });
  });
}

describe('credentials that are issued for a time', () => {
  it('are asked for once, by however many requests, and kept while they are good', async () => {
    const issue = issuer(60_000);
    const credentials = new RenewedCredentials(issue, clock);
    const all = await Promise.all([credentials.headers(), credentials.headers(), credentials.headers()]);
    expect(new Set(all).size).toBe(1);
    await clock.advance(59_000);
    expect(await credentials.headers()).toEqual({ authorization: 't1' });
    await clock.advance(1_000);
    expect(await credentials.headers()).toEqual({ authorization: 't2' });
    expect(issue).toHaveBeenCalledTimes(2);
  });

  it('are asked for again once the server refuses them, however many requests it refuses', async () => {
    const issue = issuer();
    const credentials = new RenewedCredentials(issue, clock);
    const first = await credentials.headers();
    await clock.advance(10_000);
    expect([credentials.invalidate(first), credentials.invalidate(first)]).toEqual([true, true]);
    const second = await credentials.headers();
    expect(second).toEqual({ authorization: 't2' });
    expect(credentials.invalidate(first), 'they were replaced meanwhile').toBe(true);
    expect(await credentials.headers()).toBe(second);
  });

  it('are not asked for again where brand-new ones are refused: that has another reason', async () => {
    const credentials = new RenewedCredentials(issuer(), clock);
    expect(credentials.invalidate(await credentials.headers())).toBe(false);
  });

  it('go on to be used where new ones cannot be had, as long as they have not expired', async () => {
    const issue = issuer(50_000, 60_000);
    const credentials = new RenewedCredentials(issue, clock);
    await credentials.headers();
    issue.mockRejectedValue(new Error('the issuer is away'));
    await clock.advance(55_000);
    expect(await credentials.headers()).toEqual({ authorization: 't1' });
    await clock.advance(5_000);
    await expect(credentials.headers()).rejects.toThrow('the issuer is away');
  });

  it('are not asked for at once after a failure, with pauses that grow to ten seconds', async () => {
    const issue = issuer().mockRejectedValue(new Error('the issuer is away'));
    const credentials = new RenewedCredentials(issue, clock);
    const asked = async (forMs: number): Promise<number> => {
      const before = issue.mock.calls.length;
      for (let ms = 0; ms < forMs; ms += 100) {
        await credentials.headers().catch(() => undefined);
        await clock.advance(100);
      }
      return issue.mock.calls.length - before;
    };
    expect(await asked(1_000)).toBe(1);
    expect(await asked(60_000)).toBeLessThanOrEqual(9);
    expect(await asked(300_000)).toBeLessThanOrEqual(31);
    expect(await asked(11_000)).toBeGreaterThanOrEqual(1);
  });
});
