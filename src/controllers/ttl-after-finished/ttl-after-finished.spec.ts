import { describe, expect, it } from 'vitest';
import type { Job } from '../../machinery/kubernetes/index.js';
import { decideExpiry } from './ttl-after-finished.js';

function aJob(ttlSecondsAfterFinished: number | undefined, type?: string): Job {
  const condition = { status: 'True' as const, lastTransitionTime: '2026-01-01T00:00:00Z' };
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' } },
    spec: { ttlSecondsAfterFinished, template: { spec: { containers: [] } } },
    status: { conditions: type === undefined ? [] : [{ ...condition, type }] },
  };
}

describe('a Job goes', () => {
  it.each([
    { name: 'when its time after success is over', job: aJob(60, 'Complete'), at: '2026-01-01T00:01:00Z' },
    { name: 'when its time after failure is over', job: aJob(0, 'Failed'), at: '2026-01-01T00:00:00Z' },
    { name: 'never while it runs', job: aJob(60), at: undefined },
    { name: 'never while it is suspended', job: aJob(60, 'Suspended'), at: undefined },
    { name: 'never where nobody said so', job: aJob(undefined, 'Complete'), at: undefined },
  ])('$name', ({ at, job }) => {
    expect(decideExpiry(job)).toBe(at === undefined ? undefined : Date.parse(at));
  });
});
