import { describe, expect, it } from 'vitest';
import type { CronJob, Job } from '../../runtime/index.js';
import { aJob } from '../job/job-builder.fixture.js';
import { decideHistory, decideJobs, referenceTo } from './decide-jobs.js';

function aRun(name: string, outcome?: 'Complete' | 'Failed', minute = 0): Job {
  const time = `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
  const job = aJob(
    {},
    {
      startTime: time,
      ...(outcome === 'Complete' && { completionTime: time }),
      ...(outcome && { conditions: [{ type: outcome, status: 'True' }] }),
    },
  );
  job.metadata = { ...job.metadata, name, uid: `uid-${name}` };
  return job;
}

function aCronJob(active: readonly Job[], spec: Partial<CronJob['spec']> = {}): CronJob {
  return {
    ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'tick' } },
    spec: { schedule: '* * * * *', jobTemplate: {}, ...spec },
    status: { active: active.map(referenceTo) },
  };
}

describe('the list of active jobs', () => {
  const [runs, done, gone] = [aRun('runs'), aRun('done', 'Complete', 3), aRun('gone')];

  it('leaves those that run alone, and reports the others', () => {
    const decision = decideJobs(aCronJob([runs, done, gone]), [runs, done]);
    expect(decision.active.map(({ name }) => name)).toEqual(['runs']);
    expect(decision.events.map(({ message, reason }) => `${reason}: ${message}`)).toEqual([
      'SawCompletedJob: Saw completed job: done, condition: Complete',
      'MissingJob: Active job went missing: gone',
    ]);
  });

  it('does not take in what somebody else has started', () => {
    const { active, events } = decideJobs(aCronJob([]), [runs]);
    expect(active).toEqual([]);
    expect(events.map(({ reason }) => reason)).toEqual(['UnexpectedJob']);
  });

  it('goes with the time of the last success', () => {
    const jobs = [aRun('a', 'Complete', 1), aRun('b', 'Complete', 4), aRun('c', 'Failed', 9)];
    expect(decideJobs(aCronJob([]), jobs).lastSuccessfulTime).toBe('2026-01-01T00:04:00Z');
  });
});

it('the history keeps the newest, of successes and of failures', () => {
  const jobs = [
    ...[5, 1, 3].map((minute) => aRun(`s${minute}`, 'Complete', minute)),
    ...[2, 4].map((minute) => aRun(`f${minute}`, 'Failed', minute)),
    aRun('runs'),
  ];
  const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 };
  expect(decideHistory(aCronJob([], limits), jobs).map(({ metadata }) => metadata.name)).toEqual([
    's1',
    's3',
    'f2',
    'f4',
  ]);
});
