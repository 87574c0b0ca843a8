import { HealthIndicatorService } from '@nestjs/terminus';
import { describe, expect, it } from 'vitest';
import { attemptCheck } from './rollkeeper.health.js';

/** Terminus 11: its sessions only record results, they run no checks. */
const terminus11 = {
  check: (name: string) => {
    const session = new HealthIndicatorService().check(name);
    return { up: session.up.bind(session), down: session.down.bind(session) };
  },
};

describe.each([
  { release: 'installed', indicators: new HealthIndicatorService() },
  { release: '11', indicators: terminus11 },
])('a check, with terminus $release', ({ indicators }) => {
  const attempt = (check: () => Promise<string | void> | string | void) =>
    attemptCheck(indicators, { name: 'lease', check: async () => check() }, 1);

  it('is up, with the text that it returns', async () => {
    expect(await attempt(() => 'leads')).toMatchObject({ lease: { status: 'up', message: 'leads' } });
    expect(await attempt(() => undefined)).toMatchObject({ lease: { status: 'up' } });
  });

  it('is down, with the reason for which it fails', async () => {
    const fails = (): never => {
      throw new Error('no lease');
    };
    expect(await attempt(fails)).toMatchObject({ lease: { status: 'down', message: 'no lease' } });
  });

  it('is down when it does not answer', async () => {
    expect(await attempt(() => new Promise<never>(() => undefined))).toMatchObject({
      lease: { status: 'down', message: expect.stringMatching(/timeout/) as string },
    });
  });
});
