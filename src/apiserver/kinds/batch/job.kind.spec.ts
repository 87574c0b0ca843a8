import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { JOB_KIND } from './job.kind.js';

function aJob(spec: object, labels?: Record<string, string>, templateLabels?: Record<string, string>) {
  const template = {
    metadata: { ...(templateLabels && { labels: templateLabels }) },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] },
  };
  const job = {
    ...{ apiVersion: 'batch/v1', kind: 'Job', spec: { template, ...spec } },
    metadata: { name: 'once', namespace: 'default', uid: 'u', ...(labels && { labels }) },
  } as UnstructuredObject;
  JOB_KIND.applyDefaults(job);
  JOB_KIND.prepareForCreate(job);
  return job;
}
const problemsOf = (spec: object) => JOB_KIND.validateCreate(aJob(spec)).map(({ field }) => field);

describe('a Job', () => {
  it('without labels has those of its template, generated ones among them', () => {
    const generated = { 'job-name': 'once', 'batch.kubernetes.io/job-name': 'once' };
    expect(aJob({}, undefined, { team: 'a' }).metadata.labels).toMatchObject({ team: 'a', ...generated });
    expect(aJob({}).metadata.labels).toMatchObject(generated);
    expect(aJob({}).spec).toMatchObject({ manualSelector: false });
  });

  it('with labels keeps its own, even where its template has the same', () => {
    expect(aJob({}, { team: 'a' }, { team: 'a' }).metadata.labels).toEqual({ team: 'a' });
  });

  it('keeps labels when a status without labels and spec is written', () => {
    for (const labels of [undefined, { team: 'b' }]) {
      const old = aJob({}, labels, { team: 'a' });
      const written = {
        ...{ apiVersion: 'batch/v1', kind: 'Job', status: { active: 1 } },
        metadata: { name: 'once', namespace: 'default' },
      } as UnstructuredObject;
      JOB_KIND.applyDefaults(written);
      JOB_KIND.prepareForUpdate(written, old, 'status', 0);
      expect(written.metadata.labels).toMatchObject({ team: 'a', 'job-name': 'once' });
    }
  });

  const indexed = (spec: object) => ({ completionMode: 'Indexed', completions: 3, ...spec });
  it.each([
    { spec: indexed({ parallelism: 100_000 }), fields: [] },
    { spec: indexed({ parallelism: 100_001 }), fields: ['spec.parallelism'] },
    { spec: indexed({ backoffLimitPerIndex: 1, maxFailedIndexes: 3 }), fields: [] },
    { spec: indexed({ backoffLimitPerIndex: 1, maxFailedIndexes: 4 }), fields: ['spec.maxFailedIndexes'] },
    { spec: indexed({ completions: 100_001, backoffLimitPerIndex: 1 }), fields: ['spec.maxFailedIndexes'] },
  ])('with indexes keeps their limits: $spec', ({ fields, spec }) => {
    expect(problemsOf(spec)).toEqual(fields);
  });
});
