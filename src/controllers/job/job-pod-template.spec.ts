import { describe, expect, it } from 'vitest';
import { aJob, aJobPod } from './job-builder.fixture.js';
import { podsFor } from './job-pod-template.js';
import { viewJob } from './view-job.js';

const nobody = () => false;
const namesOf = (job: ReturnType<typeof aJob>, isTaken = nobody) =>
  podsFor(viewJob(job, []), [{}, {}], isTaken).map(({ metadata }) => metadata.name);
const atVersion = (resourceVersion: string) => {
  const job = aJob();
  return { ...job, metadata: { ...job.metadata, resourceVersion } };
};

describe('the pods of a Job', () => {
  it('are called the same when a sync is repeated, so that none is made twice', () => {
    expect(namesOf(atVersion('7'))).toEqual(namesOf(atVersion('7')));
  });

  it('are called otherwise once the Job has moved on', () => {
    const before = namesOf(atVersion('7'));
    expect(namesOf(atVersion('8')).filter((name) => before.includes(name))).toEqual([]);
  });

  it('are held until they are counted', () => {
    const [pod] = podsFor(viewJob(aJob(), []), [{}], nobody);
    expect(pod?.metadata).toMatchObject({
      finalizers: ['batch.kubernetes.io/job-tracking'],
      ownerReferences: [{ kind: 'Job', name: 'once', controller: true }],
    });
  });

  it('count on from the one of their index that has failed, where the index has a limit', () => {
    const job = aJob({ completionMode: 'Indexed', backoffLimitPerIndex: 3 });
    const failed = aJobPod({ index: 0, phase: 'Failed', indexFailures: 1 });
    const [pod] = podsFor(viewJob(job, [failed]), [{ index: 0 }], nobody);
    expect(pod?.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '2' });
  });
});
