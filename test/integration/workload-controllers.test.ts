import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject, Pod } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };

interface Loose extends KubernetesObject {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [field: string]: any;
}

const EXIT_CODE = 'node.rollkeeper.dev/exit-code';
const ENDS_AFTER = 'node.rollkeeper.dev/ends-after';

const podTemplate = (annotations: Record<string, string>) => ({
  metadata: { annotations },
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
});

const job = (name: string, spec: object = {}, annotations: Record<string, string> = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: podTemplate(annotations), ...spec },
});

describe('a Job', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ nodes: 2, clock: 'manual', controllers: 'job,garbage-collector' });
  });
  afterAll(() => cluster.stop());

  const statusOf = async (name: string) => (await cluster.get<Loose>(`job/${name}`))?.status;
  const podsOf = (name: string) => cluster.list<Pod>('pods', { labelSelector: `job-name=${name}` });
  const trueConditions = async (name: string) =>
    ((await statusOf(name))?.conditions ?? [])
      .filter(({ status }: Loose) => status === 'True')
      .map(({ reason, type }: Loose) => `${type} ${reason}`);
  const reasonsOf = async (name: string) => {
    await cluster.settled(PATIENT);
    const events = await cluster.list<Loose>('events', { fieldSelector: `involvedObject.name=${name}` });
    return events.map(({ reason }) => reason);
  };

  it('runs its pods, as many at once as it may, until all completions are reached', async () => {
    await cluster.apply(job('twice', { completions: 3, parallelism: 2 }));
    await cluster.settled(PATIENT);
    expect(await statusOf('twice')).toMatchObject({ active: 2, ready: 2, startTime: expect.any(String) });
    await cluster.clock.advance(1_000);
    expect(await statusOf('twice')).toMatchObject({ active: 1, succeeded: 2 });
    await cluster.clock.advance(1_000);
    expect(await trueConditions('twice')).toEqual([
      'SuccessCriteriaMet CompletionsReached',
      'Complete CompletionsReached',
    ]);
    const status = await statusOf('twice');
    expect(status).toMatchObject({ succeeded: 3, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    expect(Date.parse(status?.completionTime) - Date.parse(status?.startTime)).toBe(2_000);
    for (const { metadata } of await podsOf('twice')) expect(metadata.finalizers ?? []).toEqual([]);
    expect(await reasonsOf('twice')).toEqual([...Array<string>(3).fill('SuccessfulCreate'), 'Completed']);
  });

  it('tries again with a growing pause, and gives up at its limit', async () => {
    await cluster.apply(job('fails', { backoffLimit: 1 }, { [EXIT_CODE]: '3' }));
    await cluster.settled(PATIENT);
    await cluster.clock.advance(1_000);
    expect(await statusOf('fails')).toMatchObject({ failed: 1 });
    expect(await podsOf('fails')).toHaveLength(1);
    await cluster.clock.advance(10_000);
    expect(await podsOf('fails')).toHaveLength(2);
    await cluster.clock.advance(1_000);
    expect(await trueConditions('fails')).toEqual([
      'FailureTarget BackoffLimitExceeded',
      'Failed BackoffLimitExceeded',
    ]);
    expect(await statusOf('fails')).toMatchObject({ failed: 2, terminating: 0 });
    expect(await reasonsOf('fails')).toContain('BackoffLimitExceeded');
  });

  it('tells each pod of an Indexed one which part is its own', async () => {
    const annotations = { [`${EXIT_CODE}.unused`]: '1' };
    await cluster.apply(
      job('parts', { completionMode: 'Indexed', completions: 4, parallelism: 4 }, annotations),
    );
    await cluster.settled(PATIENT);
    const pods = await podsOf('parts');
    expect(pods.map(({ spec }) => spec.hostname).sort()).toEqual([
      'parts-0',
      'parts-1',
      'parts-2',
      'parts-3',
    ]);
    for (const { metadata, spec } of pods) {
      const index = metadata.labels?.['batch.kubernetes.io/job-completion-index'] ?? '';
      expect(metadata.name).toMatch(new RegExp(`^parts-${index}-[a-z0-9]{5}$`));
      expect(metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-completion-index': index });
      expect(spec.containers[0]?.env?.map(({ name }) => name)).toEqual(['JOB_COMPLETION_INDEX']);
    }
    await cluster.clock.advance(1_000);
    expect(await statusOf('parts')).toMatchObject({ succeeded: 4, completedIndexes: '0-3' });
  });

  it('lets its pods go while it is suspended, without counting them, and begins again after that', async () => {
    await cluster.apply(job('paused', { parallelism: 2, completions: 2 }, { [ENDS_AFTER]: '1h' }));
    await cluster.settled(PATIENT);
    await cluster.patch('job/paused', { spec: { suspend: true } });
    await cluster.settled(PATIENT);
    expect(await podsOf('paused')).toEqual([]);
    expect(await trueConditions('paused')).toEqual(['Suspended JobSuspended']);
    expect((await statusOf('paused'))?.failed).toBeUndefined();
    await cluster.patch('job/paused', { spec: { suspend: false } });
    await cluster.settled(PATIENT);
    expect(await statusOf('paused')).toMatchObject({ active: 2 });
    expect(await reasonsOf('paused')).toEqual(expect.arrayContaining(['Suspended', 'Resumed']));
  });

  it('is over at its deadline, and stops what runs', async () => {
    await cluster.apply(job('slow', { activeDeadlineSeconds: 30 }, { [ENDS_AFTER]: 'never' }));
    await cluster.settled(PATIENT);
    await cluster.clock.advance(30_000);
    expect(await trueConditions('slow')).toEqual([
      'FailureTarget DeadlineExceeded',
      'Failed DeadlineExceeded',
    ]);
    expect(await statusOf('slow')).toMatchObject({ failed: 1, terminating: 0 });
    expect(await podsOf('slow')).toEqual([]);
  });

  it('takes its pods with it', async () => {
    await cluster.delete('job/paused');
    await cluster.settled(PATIENT);
    expect(await podsOf('paused')).toEqual([]);
  });
});

describe('a CronJob', () => {
  let cluster: TestCluster;
  const cronJob = (name: string, spec: object, annotations: Record<string, string> = {}): Loose => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name },
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: podTemplate(annotations) } }, ...spec },
  });
  beforeAll(async () => {
    cluster = await startTestCluster({
      nodes: 1,
      clock: { startAt: '2026-01-01T00:01:00Z' },
      controllers: 'job,cronjob,garbage-collector',
      manifests: [
        cronJob('tick', { successfulJobsHistoryLimit: 2, timeZone: 'Asia/Kolkata' }),
        cronJob('long', { concurrencyPolicy: 'Forbid' }, { [ENDS_AFTER]: '7m' }),
        cronJob('anew', { concurrencyPolicy: 'Replace' }, { [ENDS_AFTER]: 'never' }),
        cronJob('off', { suspend: true }),
      ] as never,
    });
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const jobsOf = async (name: string) =>
    (await cluster.list<Loose>('jobs'))
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name)
      .map(({ metadata }) => metadata.name)
      .sort();
  const minute = (time: string): number => Date.parse(`2026-01-01T${time}Z`) / 60_000;

  it('starts a job when its time has come, named after it', async () => {
    expect(await cluster.list('jobs')).toEqual([]);
    await cluster.clock.advanceTo('2026-01-01T00:05:00.500Z');
    expect(await jobsOf('tick')).toEqual([`tick-${minute('00:05:00')}`]);
    const started = await cluster.get<Loose>(`job/tick-${minute('00:05:00')}`);
    expect(started?.metadata.annotations).toMatchObject({
      'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T05:35:00+05:30',
    });
    expect((await cluster.get<Loose>('cronjob/tick'))?.status).toMatchObject({
      active: [{ kind: 'Job', name: `tick-${minute('00:05:00')}` }],
      lastScheduleTime: '2026-01-01T00:05:00Z',
    });
    await cluster.clock.advance(2_000);
    const { active, lastSuccessfulTime } = (await cluster.get<Loose>('cronjob/tick'))?.status ?? {};
    expect([active, lastSuccessfulTime]).toEqual([undefined, expect.stringContaining('2026-01-01T00:05:0')]);
  });

  it('keeps the last ones, and starts no second one, or a new one in place of the old', async () => {
    await cluster.clock.advanceTo('2026-01-01T00:21:00Z');
    expect(await jobsOf('tick')).toEqual([`tick-${minute('00:15:00')}`, `tick-${minute('00:20:00')}`]);
    // The Jobs of 10 and 15 past were late, each until the one before it had ended, at 12 and 19 past.
    expect(await jobsOf('long')).toEqual(
      ['00:05:00', '00:10:00', '00:15:00'].map((time) => `long-${minute(time)}`),
    );
    expect((await cluster.get<Loose>(`job/long-${minute('00:10:00')}`))?.status.startTime).toContain(
      '00:12:0',
    );
    expect(await jobsOf('anew')).toEqual([`anew-${minute('00:20:00')}`]);
    expect(await jobsOf('off')).toEqual([]);
  });

  it('makes up for one missed start when it is no longer suspended', async () => {
    await cluster.patch('cronjob/off', { spec: { suspend: false } });
    await cluster.settled(PATIENT);
    expect(await jobsOf('off')).toEqual([`off-${minute('00:20:00')}`]);
  });

  it('takes its jobs with it', async () => {
    await cluster.delete('cronjob/tick');
    await cluster.settled(PATIENT);
    expect(await jobsOf('tick')).toEqual([]);
  });
});

describe('a StatefulSet', () => {
  let cluster: TestCluster;
  const set = (spec: object = {}, image = 'postgres:16') => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ name: 'db', image }], terminationGracePeriodSeconds: 5 },
      },
      ...spec,
    },
  });
  beforeAll(async () => {
    cluster = await startTestCluster({
      ...{ nodes: 2, clock: 'manual' },
      controllers:
        'statefulset,garbage-collector,persistentvolume-binder,volume-provisioner,pvc-protection,pv-protection',
      manifests: set(),
    });
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const statusOf = async () => (await cluster.get<Loose>('statefulset/db'))?.status;
  const imagesOf = async () => {
    const pods = await cluster.list<Pod>('pods', { labelSelector: 'app=db' });
    return Object.fromEntries(pods.map(({ metadata, spec }) => [metadata.name, spec.containers[0]?.image]));
  };
  const namesOf = async (resource: string) =>
    (await cluster.list(resource)).map(({ metadata }) => metadata.name).sort();

  it('has its replicas, each with its claim', async () => {
    expect(await imagesOf()).toEqual({ 'db-0': 'postgres:16', 'db-1': 'postgres:16', 'db-2': 'postgres:16' });
    expect(await namesOf('persistentvolumeclaims')).toEqual(['data-db-0', 'data-db-1', 'data-db-2']);
    const { currentRevision, ...status } = (await statusOf()) ?? {};
    expect(status).toMatchObject({ readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3 });
    expect(status.updateRevision).toBe(currentRevision);
  });

  it('is rolled out down to its partition, then as a whole, and back', async () => {
    const before = (await statusOf())?.currentRevision;
    const partition = (at: number) => ({
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: at } },
    });
    await cluster.apply(set(partition(2), 'postgres:17'));
    await cluster.settled(PATIENT);
    expect(await imagesOf()).toEqual({ 'db-0': 'postgres:16', 'db-1': 'postgres:16', 'db-2': 'postgres:17' });
    expect(await statusOf()).toMatchObject({
      currentRevision: before,
      currentReplicas: 2,
      updatedReplicas: 1,
    });
    await cluster.apply(set(partition(0), 'postgres:17'));
    await cluster.settled(PATIENT);
    expect(await imagesOf()).toEqual({ 'db-0': 'postgres:17', 'db-1': 'postgres:17', 'db-2': 'postgres:17' });
    const after = await statusOf();
    expect(after?.currentRevision).toBe(after?.updateRevision);
    expect(after?.currentRevision).not.toBe(before);
    await cluster.apply(set(partition(0)));
    await cluster.settled(PATIENT);
    expect((await statusOf())?.currentRevision).toBe(before);
    const revisions = await cluster.list<Loose>('controllerrevisions');
    expect(revisions.map(({ revision }) => revision).sort()).toEqual([2, 3]);
  });

  it('takes the claims of replicas that are too many with them, where it should', async () => {
    await cluster.patch('statefulset/db', { spec: { replicas: 1 } });
    await cluster.settled(PATIENT);
    expect(await namesOf('pods')).toEqual(['db-0']);
    expect(await namesOf('persistentvolumeclaims')).toEqual(['data-db-0']);
  });

  it('goes with its pods and revisions, and leaves the claims that it should leave', async () => {
    await cluster.delete('statefulset/db');
    await cluster.settled(PATIENT);
    expect(await namesOf('pods')).toEqual([]);
    expect(await namesOf('controllerrevisions')).toEqual([]);
    expect(await namesOf('persistentvolumeclaims')).toEqual(['data-db-0']);
  });
});

describe('a DaemonSet', () => {
  let cluster: TestCluster;
  const agent = (image: string) => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'agent', image }], terminationGracePeriodSeconds: 5 },
      },
    },
  });
  beforeAll(async () => {
    cluster = await startTestCluster({
      ...{ nodes: 3, clock: 'manual', controllers: 'daemonset,garbage-collector' },
      manifests: agent('agent:1'),
    });
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const statusOf = async () => (await cluster.get<Loose>('daemonset/agent'))?.status;
  const placesOf = async () => {
    const pods = await cluster.list<Pod>('pods', { labelSelector: 'app=agent' });
    return pods.map(({ spec }) => `${spec.nodeName} ${spec.containers[0]?.image}`).sort();
  };

  it('has a pod on every node', async () => {
    expect(await placesOf()).toEqual(['node-0 agent:1', 'node-1 agent:1', 'node-2 agent:1']);
    expect(await statusOf()).toMatchObject({
      ...{ desiredNumberScheduled: 3, currentNumberScheduled: 3, numberReady: 3 },
      ...{ updatedNumberScheduled: 3, numberAvailable: 3, numberMisscheduled: 0 },
    });
  });

  it('follows its template, node by node', async () => {
    await cluster.apply(agent('agent:2'));
    await cluster.settled(PATIENT);
    expect(await placesOf()).toEqual(['node-0 agent:2', 'node-1 agent:2', 'node-2 agent:2']);
    expect(await statusOf()).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 });
    expect(await cluster.list('controllerrevisions')).toHaveLength(2);
  });

  it('leaves a node that drives it away, stays on one that is cordoned, and comes back', async () => {
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }];
    await cluster.patch('node/node-1', { spec: { taints } });
    await cluster.patch('node/node-2', { spec: { unschedulable: true } });
    await cluster.settled(PATIENT);
    expect(await placesOf()).toEqual(['node-0 agent:2', 'node-2 agent:2']);
    expect(await statusOf()).toMatchObject({ desiredNumberScheduled: 2, numberAvailable: 2 });
    await cluster.delete(
      `pod/${(await cluster.list<Pod>('pods')).find(({ spec }) => spec.nodeName === 'node-2')?.metadata.name}`,
    );
    await cluster.patch('node/node-1', { spec: { taints: null } });
    await cluster.settled(PATIENT);
    expect(await placesOf()).toEqual(['node-0 agent:2', 'node-1 agent:2', 'node-2 agent:2']);
  });

  it('takes its pods and revisions with it', async () => {
    await cluster.delete('daemonset/agent');
    await cluster.settled(PATIENT);
    expect([await placesOf(), await cluster.list('controllerrevisions')]).toEqual([[], []]);
  });
});
