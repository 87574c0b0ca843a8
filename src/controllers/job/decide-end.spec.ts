import { describe, expect, it } from 'vitest';
import type { Job } from '../../runtime/index.js';
import { aJob, aJobPod } from './job-builder.fixture.js';
import { decideEnd, reachedCompletions } from './decide-end.js';
import { viewJob } from './view-job.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');
type Rules = NonNullable<Job['spec']['podFailurePolicy']>['rules'];

const endOf = (job: Job, pods: Parameters<typeof viewJob>[1] = []) => decideEnd(viewJob(job, pods), NOW);
const failed = (name: string, traits: Parameters<typeof aJobPod>[0] = {}) =>
  aJobPod({ name, phase: 'Failed', ...traits });

describe('a Job has failed', () => {
  it('when more pods have failed than its backoffLimit allows, counted or not yet', () => {
    const job = aJob({ backoffLimit: 2 }, { failed: 1, uncountedTerminatedPods: { failed: ['u'] } });
    expect(endOf(job)).toBeUndefined();
    expect(endOf(job, [failed('a', { tracked: false }), failed('b', { uid: 'u' })])).toBeUndefined();
    expect(endOf(job, [failed('c')])).toMatchObject({
      type: 'FailureTarget',
      reason: 'BackoffLimitExceeded',
    });
  });

  it('when containers that are restarted in place have used the limit up', () => {
    const template = { spec: { restartPolicy: 'OnFailure' as const, containers: [] } };
    expect(endOf(aJob({ backoffLimit: 3, template }), [aJobPod({ restarts: 2 })])).toBeUndefined();
    expect(endOf(aJob({ backoffLimit: 3, template }), [aJobPod({ restarts: 3 })])?.reason).toBe(
      'BackoffLimitExceeded',
    );
  });

  it('when it has been active for too long, but not while it is suspended', () => {
    const started = { startTime: '2026-01-01T00:59:00Z' };
    expect(endOf(aJob({ activeDeadlineSeconds: 61 }, started))).toBeUndefined();
    expect(endOf(aJob({ activeDeadlineSeconds: 60 }, started))?.reason).toBe('DeadlineExceeded');
    expect(endOf(aJob({ activeDeadlineSeconds: 60, suspend: true }, started))).toBeUndefined();
  });

  it('for the reason that its status tells already, whatever else has become of it', () => {
    const told = { type: 'FailureTarget', status: 'True', reason: 'PodFailurePolicy', message: 'why' };
    expect(endOf(aJob({}, { succeeded: 1, conditions: [told] }))).toMatchObject({
      reason: 'PodFailurePolicy',
      message: 'why',
    });
  });
});

describe('the failure policy', () => {
  const exits = (action: string, values: number[], operator = 'In'): Rules => [
    { action, onExitCodes: { operator, values } } as never,
  ];

  it('fails the Job by the exit code of a container', () => {
    const job = aJob({ podFailurePolicy: { rules: exits('FailJob', [42]) } });
    expect(endOf(job, [failed('a', { exitCode: 1 })])).toBeUndefined();
    expect(endOf(job, [failed('a', { exitCode: 42 })])).toEqual({
      type: 'FailureTarget',
      reason: 'PodFailurePolicy',
      message: 'Container main for pod default/a failed with exit code 42 matching FailJob rule at index 0',
    });
  });

  it('looks at the first rule that matches alone', () => {
    const rules = [...exits('Ignore', [1]), ...exits('FailJob', [0], 'NotIn')];
    const job = aJob({ podFailurePolicy: { rules } });
    expect(endOf(job, [failed('a', { exitCode: 1 })])).toBeUndefined();
    expect(endOf(job, [failed('a', { exitCode: 2 })])?.message).toContain('rule at index 1');
  });

  it('does not count what is ignored, by a condition of the pod', () => {
    const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }];
    const job = aJob({ backoffLimit: 0, podFailurePolicy: { rules: rules as never } });
    const evicted = failed('a');
    evicted.status = { ...evicted.status, conditions: [{ type: 'DisruptionTarget', status: 'True' }] };
    expect(endOf(job, [evicted])).toBeUndefined();
    expect(endOf(job, [failed('b')])?.reason).toBe('BackoffLimitExceeded');
  });
});

describe('an Indexed Job with a limit per index', () => {
  const spec = {
    completionMode: 'Indexed' as const,
    completions: 3,
    backoffLimitPerIndex: 1,
    backoffLimit: 99,
  };

  it('goes on with the others, and has failed when they are done', () => {
    const pods = [failed('a', { index: 1, indexFailures: 1 })];
    expect(endOf(aJob(spec), pods)).toBeUndefined();
    expect(endOf(aJob(spec, { completedIndexes: '0,2' }), pods)?.reason).toBe('FailedIndexes');
  });

  it('has failed at once when too many indexes have', () => {
    const pods = [failed('a', { index: 1, indexFailures: 1 })];
    expect(endOf(aJob({ ...spec, maxFailedIndexes: 0 }), pods)?.reason).toBe('MaxFailedIndexesExceeded');
  });

  it('tries an index again before that', () => {
    const view = viewJob(aJob(spec), [failed('a', { index: 1, indexFailures: 0 })]);
    expect(view.indexes?.failed).toEqual(new Set());
    expect(view.indexes?.toReplace.get(1)?.metadata.name).toBe('a');
  });
});

describe('a Job has succeeded', () => {
  it('when it has all its completions and nothing runs any more', () => {
    const view = viewJob(aJob({ completions: 2 }, { succeeded: 1 }), [aJobPod({ phase: 'Succeeded' })]);
    expect(reachedCompletions(view, 1)).toBeUndefined();
    expect(reachedCompletions(view, 0)?.reason).toBe('CompletionsReached');
  });

  it('without a number of completions when one pod has, and the others have ended', () => {
    const job = aJob({ completions: undefined, parallelism: 3 });
    expect(reachedCompletions(viewJob(job, []), 0)).toBeUndefined();
    expect(reachedCompletions(viewJob(job, [aJobPod({ phase: 'Succeeded' })]), 0)).toBeDefined();
  });

  it.each([
    { rule: { succeededIndexes: '0,2' }, completed: '0,2-3', met: true },
    { rule: { succeededIndexes: '0,2' }, completed: '0,3', met: false },
    { rule: { succeededIndexes: '0-4', succeededCount: 2 }, completed: '1,3', met: true },
    { rule: { succeededIndexes: '0-2', succeededCount: 2 }, completed: '1,3', met: false },
    { rule: { succeededCount: 2 }, completed: '1,4', met: true },
  ])('by its policy $rule with $completed: $met', ({ completed, met, rule }) => {
    const spec = { completionMode: 'Indexed' as const, completions: 5, successPolicy: { rules: [rule] } };
    const end = endOf(aJob(spec, { completedIndexes: completed }));
    expect(end?.type).toBe(met ? 'SuccessCriteriaMet' : undefined);
  });
});
