import { describe, expect, it } from 'vitest';
import { aJob, aJobPod } from './job-builder.fixture.js';
import { countPods } from './count-pods.js';
import { viewJob } from './view-job.js';

const FAILURE = { type: 'FailureTarget', reason: 'DeadlineExceeded', message: '' } as const;
const count = (
  job: Parameters<typeof viewJob>[0],
  pods: Parameters<typeof viewJob>[1],
  end?: typeof FAILURE,
) => {
  const { counters, isComplete, release } = countPods(viewJob(job, pods), end);
  return { ...counters, isComplete, release: release.map(({ metadata }) => metadata.name) };
};
const succeeded = (name: string, traits: Parameters<typeof aJobPod>[0] = {}) =>
  aJobPod({ name, phase: 'Succeeded', ...traits });

describe('an ended pod is counted once', () => {
  it('noted first, and let go', () => {
    expect(
      count(aJob(), [succeeded('a'), aJobPod({ name: 'b', phase: 'Failed' }), aJobPod({ name: 'c' })]),
    ).toEqual({
      succeeded: 0,
      failed: 0,
      uncountedTerminatedPods: { succeeded: ['uid-a'], failed: ['uid-b'] },
      release: ['a', 'b'],
      isComplete: false,
    });
  });

  it('not again while it is noted and still held', () => {
    const job = aJob({}, { uncountedTerminatedPods: { succeeded: ['uid-a'] } });
    expect(count(job, [succeeded('a')])).toMatchObject({
      succeeded: 0,
      uncountedTerminatedPods: { succeeded: ['uid-a'] },
      release: ['a'],
    });
  });

  it('when it is seen without its finalizer, or not at all any more', () => {
    const job = aJob({}, { failed: 2, uncountedTerminatedPods: { succeeded: ['uid-a'], failed: ['uid-b'] } });
    expect(count(job, [succeeded('a', { tracked: false })])).toEqual({
      succeeded: 1,
      failed: 3,
      uncountedTerminatedPods: {},
      release: [],
      isComplete: true,
    });
  });

  it('by its index in an Indexed Job', () => {
    const job = aJob({ completionMode: 'Indexed', completions: 4 }, { completedIndexes: '1', succeeded: 1 });
    expect(count(job, [succeeded('a', { index: 2 }), succeeded('b', { index: 7 })])).toMatchObject({
      succeeded: 2,
      completedIndexes: '1,2',
      uncountedTerminatedPods: {},
      release: ['a', 'b'],
    });
  });
});

describe('pods that still run', () => {
  it('have failed when the Job has', () => {
    expect(count(aJob(), [aJobPod({ name: 'a' })], FAILURE)).toMatchObject({
      uncountedTerminatedPods: { failed: ['uid-a'] },
      release: ['a'],
    });
  });

  it('are let go uncounted when the Job is deleted', () => {
    const job = aJob();
    job.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(count(job, [aJobPod({ name: 'a' })])).toMatchObject({
      uncountedTerminatedPods: {},
      release: ['a'],
    });
  });
});

describe('a failed pod whose index is tried again', () => {
  const job = aJob({ completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 2 });
  const failed = aJobPod({ name: 'a', index: 0, phase: 'Failed', indexFailures: 0 });

  it('is held until the next one is there, which counts on from it', () => {
    expect(count(job, [failed]).release).toEqual([]);
    expect(count(job, [failed, aJobPod({ name: 'b', index: 0 })])).toMatchObject({
      uncountedTerminatedPods: { failed: ['uid-a'] },
      release: ['a'],
    });
  });
});

it('no more than 500 at once are noted', () => {
  const pods = Array.from({ length: 600 }, (_, index) => succeeded(`p${index}`));
  const { release, uncountedTerminatedPods } = count(aJob({ completions: 600 }), pods);
  expect(uncountedTerminatedPods?.succeeded).toHaveLength(500);
  expect(release).toHaveLength(500);
});
