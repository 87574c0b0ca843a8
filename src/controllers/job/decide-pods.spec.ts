import { describe, expect, it } from 'vitest';
import type { Job } from '../../runtime/index.js';
import { aJob, aJobPod } from './job-builder.fixture.js';
import { decidePods } from './decide-pods.js';
import { viewJob } from './view-job.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();

const decide = (job: Job, pods: Parameters<typeof viewJob>[1] = []) => decidePods(viewJob(job, pods), NOW);
const slotsOf = (job: Job, pods: Parameters<typeof viewJob>[1] = []) => {
  const decision = decide(job, pods);
  return decision.kind === 'create' ? decision.slots.map(({ index }) => index ?? 'any') : decision.kind;
};
const goersOf = (job: Job, pods: Parameters<typeof viewJob>[1]) => {
  const decision = decide(job, pods);
  return decision.kind === 'delete' ? decision.pods.map(({ metadata }) => metadata.name) : decision.kind;
};

describe('a Job makes pods', () => {
  it('up to its parallelism, and no more than completions are left', () => {
    expect(slotsOf(aJob({ completions: 5, parallelism: 3 }))).toEqual(['any', 'any', 'any']);
    expect(slotsOf(aJob({ completions: 5, parallelism: 3 }, { succeeded: 4 }))).toEqual(['any']);
    expect(slotsOf(aJob({ completions: 5, parallelism: 3 }, { succeeded: 4 }), [aJobPod()])).toBe('nothing');
  });

  it('without a number of completions until one has succeeded', () => {
    const job = aJob({ completions: undefined, parallelism: 2 });
    expect(slotsOf(job, [aJobPod()])).toEqual(['any']);
    expect(slotsOf(job, [aJobPod({ name: 'a' }), aJobPod({ name: 'b', phase: 'Succeeded' })])).toBe(
      'nothing',
    );
  });

  it('for the lowest indexes that are neither done nor worked on', () => {
    const job = aJob(
      { completionMode: 'Indexed', completions: 6, parallelism: 4 },
      { completedIndexes: '0,3' },
    );
    expect(slotsOf(job, [aJobPod({ index: 1 })])).toEqual([2, 4, 5]);
  });

  it('at most 500 at once', () => {
    expect(slotsOf(aJob({ completions: 900, parallelism: 900 }))).toHaveLength(500);
  });

  it('in place of those that terminate, unless it waits until they have failed', () => {
    const pods = [aJobPod({ deletedAt: at(1) })];
    expect(slotsOf(aJob({ podReplacementPolicy: 'Failed' }), pods)).toBe('nothing');
    expect(slotsOf(aJob(), [aJobPod({ deletedAt: at(60) })])).toEqual(['any']);
  });
});

describe('after failures a Job waits', () => {
  const failedAgo = (...seconds: number[]) =>
    seconds.map((ago, index) => aJobPod({ name: `f${index}`, phase: 'Failed', endedAt: at(ago) }));

  it('10 seconds, and twice as long each time, from the last one', () => {
    expect(decide(aJob(), failedAgo(4))).toEqual({ kind: 'back-off', forMs: 6_000 });
    expect(decide(aJob(), failedAgo(30, 15, 5))).toEqual({ kind: 'back-off', forMs: 35_000 });
    expect(slotsOf(aJob(), failedAgo(10))).toEqual(['any']);
  });

  it('for failures since the last success alone', () => {
    const pods = [...failedAgo(60, 50, 2), aJobPod({ name: 's', phase: 'Succeeded', endedAt: at(20) })];
    expect(decide(aJob({ completions: 9 }), pods)).toEqual({ kind: 'back-off', forMs: 8_000 });
  });

  it('for each index by itself where that has a limit of its own', () => {
    const job = aJob({ completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 9 });
    const pods = [aJobPod({ index: 0, phase: 'Failed', endedAt: at(1), indexFailures: 1 })];
    expect(slotsOf(job, pods)).toEqual([1]);
    const running = aJobPod({ name: 'b', index: 1 });
    expect(decide(job, [...pods, running])).toEqual({ kind: 'back-off', forMs: 19_000 });
  });
});

describe('a Job lets pods go', () => {
  it('while it is suspended, all of them', () => {
    expect(goersOf(aJob({ suspend: true }), [aJobPod({ name: 'a' })])).toEqual(['a']);
    expect(slotsOf(aJob({ suspend: true }))).toBe('nothing');
  });

  it('when there are too many, those that have got least far', () => {
    const pods = [aJobPod({ name: 'runs', node: 'n' }), aJobPod({ name: 'waits', phase: 'Pending' })];
    expect(goersOf(aJob(), pods)).toEqual(['waits']);
  });

  it('when two work on the same index, or one on none', () => {
    const job = aJob({ completionMode: 'Indexed', completions: 2, parallelism: 2 });
    const pods = [
      aJobPod({ name: 'late', index: 0, phase: 'Pending' }),
      aJobPod({ name: 'first', index: 0, node: 'n' }),
      aJobPod({ name: 'beyond', index: 2, node: 'n' }),
    ];
    expect(goersOf(job, pods)).toEqual(expect.arrayContaining(['late', 'beyond']));
    expect(goersOf(job, pods)).toHaveLength(2);
  });
});
