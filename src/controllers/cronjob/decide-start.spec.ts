import { describe, expect, it } from 'vitest';
import type { CronJob } from '../../runtime/index.js';
import { decideStart, msUntilNextStart } from './decide-start.js';
import { compileSchedule } from './schedule.js';

const NOW = Date.parse('2026-01-01T12:00:20Z');

function aCronJob(lastScheduleTime: string | undefined, spec: Partial<CronJob['spec']> = {}): CronJob {
  return {
    ...{ apiVersion: 'batch/v1', kind: 'CronJob' },
    metadata: { name: 'tick', creationTimestamp: '2026-01-01T11:58:30Z' },
    spec: { schedule: '* * * * *', jobTemplate: {}, ...spec },
    status: { lastScheduleTime },
  };
}

const decide = (cronJob: CronJob) => decideStart(cronJob, compileSchedule(cronJob.spec.schedule, 'UTC'), NOW);
const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);

describe('a start', () => {
  it('is due once its time has come, and not a second time', () => {
    expect(decide(aCronJob('2026-01-01T11:59:00Z'))).toEqual({
      kind: 'start',
      atMs: at('12:00:00'),
      manyMissed: false,
    });
    expect(decide(aCronJob('2026-01-01T12:00:00Z'))).toEqual({ kind: 'wait' });
  });

  it('is counted from the creation at first', () => {
    expect(decide(aCronJob(undefined, { schedule: '58 11 * * *' }))).toEqual({ kind: 'wait' });
    expect(decide(aCronJob(undefined))).toMatchObject({ kind: 'start', atMs: at('12:00:00') });
  });

  it('is made up for once, however many were missed, and many are reported', () => {
    expect(decide(aCronJob('2026-01-01T10:30:00Z'))).toMatchObject({
      atMs: at('12:00:00'),
      manyMissed: false,
    });
    expect(decide(aCronJob('2026-01-01T10:00:00Z'))).toMatchObject({
      atMs: at('12:00:00'),
      manyMissed: true,
    });
    expect(decide(aCronJob('2016-01-01T10:00:00Z'))).toMatchObject({
      atMs: at('12:00:00'),
      manyMissed: true,
    });
  });

  it('is not looked for behind its deadline', () => {
    const spec = { schedule: '0 * * * *', startingDeadlineSeconds: 30 };
    expect(decide(aCronJob('2026-01-01T01:00:00Z', spec))).toMatchObject({
      kind: 'start',
      manyMissed: false,
    });
    const late = { ...spec, startingDeadlineSeconds: 10 };
    expect(decide(aCronJob('2026-01-01T11:00:00Z', late))).toEqual({ kind: 'wait' });
  });

  it('is waited for until a moment after its time', () => {
    expect(msUntilNextStart(compileSchedule('* * * * *', 'UTC'), NOW)).toBe(40_100);
  });
});
