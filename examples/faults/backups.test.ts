import { describe, expect, it } from 'vitest';
import type { ControllerDefinition, ObjectRef, Job } from 'rollkeeper';
import { createManager, definitionOf, silentLogger } from 'rollkeeper';
import { startTestCluster } from 'rollkeeper/testing';
import type { Faults } from 'rollkeeper/testing/faults';
import { startFaults } from 'rollkeeper/testing/faults';
import { Backup, backups, naiveBackups } from './backups.js';

const PHOTOS: ObjectRef = { namespace: 'default', name: 'photos' };

/** How many Jobs a Backup ends with, if the operator meets these faults, and how many faults there were. */
async function jobsOf(
  operator: ControllerDefinition,
  make: (faults: Faults) => void,
  seed?: number,
): Promise<{ readonly jobs: number; readonly faults: number }> {
  await using cluster = await startTestCluster({
    ...{ controllers: [], nodes: 0 },
    manifests: [definitionOf(Backup)] as never,
  });
  await using faults = await startFaults(cluster, { seed });
  const stopper = new AbortController();
  const manager = await createManager({
    name: 'backups',
    kubeconfig: faults.kubeconfig.path, // the operator's way to the API; the test has its own
    coordination: 'local',
    logger: silentLogger,
  });
  const running = manager.add(operator).run(stopper.signal);
  make(faults);
  const spec = { volume: 'photos' };
  await cluster.client.create(Backup, {
    apiVersion: 'example.com/v1',
    kind: 'Backup',
    metadata: PHOTOS,
    spec,
  });
  const isDone = (backup?: { status?: { job?: string } }): boolean => backup?.status?.job !== undefined;
  await cluster.waitFor<Backup>('backups/photos', isDone, { timeoutMs: 60_000 });
  stopper.abort();
  await running;
  return { jobs: (await cluster.list<Job>('jobs')).length, faults: faults.log.length };
}

const THE_ANSWER_IS_LOST = (faults: Faults) =>
  void faults.failNext({ verb: 'create', resource: 'jobs', connection: 'cut', when: 'after' });
const THE_STATUS_FAILS = (faults: Faults) =>
  void faults.failNext({ verb: ['update', 'patch'], resource: 'backups', subresource: 'status', code: 500 });

describe('the naive operator makes a second Job', () => {
  it('does so if the answer of the create is lost', async () => {
    expect(await jobsOf(naiveBackups, THE_ANSWER_IS_LOST)).toEqual({ jobs: 2, faults: 1 });
  });

  it('does so if the status cannot be written', async () => {
    expect(await jobsOf(naiveBackups, THE_STATUS_FAILS)).toEqual({ jobs: 2, faults: 1 });
  });
});

describe('the corrected one makes one Job', () => {
  it.each([
    { name: 'where the answer of the create is lost', make: THE_ANSWER_IS_LOST },
    { name: 'where the status cannot be written', make: THE_STATUS_FAILS },
  ])('$name', async ({ make }) => {
    expect(await jobsOf(backups, make)).toEqual({ jobs: 1, faults: 1 });
  });

  it.each([1, 2, 3])('whatever else fails, by chance with seed %i', async (seed) => {
    const rates = { errorBefore: 0.1, errorAfter: 0.3, lostBefore: 0.1, lostAfter: 0.3, watchCut: 0.3 };
    const { faults, jobs } = await jobsOf(backups, (all) => all.setRates(rates), seed);
    expect(jobs).toBe(1);
    expect(faults).toBeGreaterThan(0);
  });
});
