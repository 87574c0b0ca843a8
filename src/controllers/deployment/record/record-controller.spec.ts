import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { ConfigMap, Deployment, Namespace, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { runController } from '../../../testing/run-controller.js';
import { createDeploymentController } from '../definition.js';
import { entriesOf, readRecord, recordNameOf } from './deployment-record.js';
import { createRecordController } from './record-controller.js';

const HISTORY = 'rollkeeper.dev/history';

interface Lab {
  readonly cluster: FakeCluster;
  /** All controllers work until nothing is left. */
  rest(): Promise<ReadonlyMap<string, unknown>>;
  record(): ConfigMap | undefined;
  kinds(): readonly string[];
  change(edit: (deployment: Deployment) => void): Promise<void>;
}

async function aLab(history: string | undefined, ofNamespace?: string): Promise<Lab> {
  const cluster = new FakeCluster();
  const annotations = ofNamespace === undefined ? undefined : { [HISTORY]: ofNamespace };
  cluster.seed(Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default', annotations },
  });
  const rollouts = runController(createDeploymentController(), cluster);
  const records = runController(createRecordController('apps/v1'), cluster);
  const { metadata, ...wanted } = aDeployment({ image: 'app:1' });
  const { namespace, name } = metadata;
  const own = history === undefined ? undefined : { [HISTORY]: history };
  await cluster.create<Deployment>(Deployment, {
    ...wanted,
    metadata: { namespace, name, annotations: own },
  });
  const [{ metadata: created } = { metadata }] = cluster.all<Deployment>(Deployment);
  const record = () =>
    cluster.all<ConfigMap>(ConfigMap).find((each) => each.metadata.name === recordNameOf(created.uid ?? ''));
  return {
    cluster,
    async rest() {
      await rollouts.drain();
      return (await records.drain()).errors;
    },
    record,
    kinds: () => entriesOf(readRecord(record())).map(({ kind }) => kind),
    async change(edit) {
      const live = await cluster.get<Deployment>(Deployment, metadata);
      edit(live);
      await cluster.update(Deployment, live);
    },
  };
}

describe('the history of a Deployment', () => {
  it('is kept in a ConfigMap of its namespace that goes with it', async () => {
    const lab = await aLab('14d');
    await lab.rest();
    const { metadata } = lab.record()!;
    expect(metadata).toMatchObject({
      namespace: 'default',
      annotations: { [HISTORY]: 'Deployment web' },
      ownerReferences: [{ kind: 'Deployment', name: 'web' }],
    });
    expect(lab.kinds()).toEqual(expect.arrayContaining(['created', 'asked', 'sized']));
  });

  it('is kept by the annotation of the Namespace too, and not where the Deployment says off', async () => {
    const byDefault = await aLab(undefined, '7d');
    await byDefault.rest();
    expect(byDefault.kinds()).toContain('created');
    const off = await aLab('off', '7d');
    await off.rest();
    expect(off.record()).toBeUndefined();
  });

  it('has the experiments that have ended, of steps and outside of rollouts, once each', async () => {
    const lab = await aLab('14d');
    await lab.rest();
    const note = {
      ...{ revision: '1', step: 1, at: '2026-01-01T00:00:00Z', began: '2026-01-01T00:01:00Z' },
      ...{ ended: '2026-01-01T00:11:00Z', verdict: 'passed', pods: { canary: 1 }, checks: [] },
    };
    const [own] = lab.cluster.all<ReplicaSet>(ReplicaSet);
    own!.metadata.annotations = {
      ...own!.metadata.annotations,
      'rollkeeper.dev/experiments': JSON.stringify([note]),
    };
    await lab.cluster.update(ReplicaSet, own!);
    const template = { name: 'a', replicaSet: 'sizes-a', hash: 'x', replicas: 2, deployment: 'web' };
    const plan = { name: 'sizes', durationMs: 60_000, startWithinMs: 60_000, keepMs: 0, checks: [] };
    await lab.cluster.create<ReplicaSet>(ReplicaSet, {
      ...own!,
      metadata: {
        ...{ name: 'sizes-x', namespace: 'default', labels: { 'rollkeeper.dev/experiment': 'sizes-x' } },
        annotations: {
          'rollkeeper.dev/experiment-plan': JSON.stringify({ ...plan, templates: [template] }),
          'rollkeeper.dev/experiment-state': JSON.stringify({
            ended: '2026-01-01T00:12:00Z',
            verdict: 'stopped',
          }),
        },
      },
    });
    await lab.rest();
    await lab.rest();
    const experiments = entriesOf(readRecord(lab.record())).filter(({ kind }) => kind === 'experiment');
    expect(experiments).toEqual([
      {
        ...{ at: '2026-01-01T00:11:00Z', kind: 'experiment', revision: '1', tookMs: 600_000 },
        what: 'the experiment of step 1 has passed: canary 1',
      },
      {
        ...{ at: '2026-01-01T00:12:00Z', kind: 'experiment' },
        what: 'the experiment of sizes-x was stopped: a 2',
      },
    ]);
  });

  it('costs nothing where it is not asked for: no read, no write', async () => {
    for (const history of [undefined, 'on']) {
      const lab = await aLab(history);
      await lab.rest();
      expect(lab.cluster.requests.filter(({ type }) => type === ConfigMap)).toEqual([]);
    }
  });

  it('is not written where nothing is new', async () => {
    const lab = await aLab('14d');
    await lab.rest();
    const version = lab.record()?.metadata.resourceVersion;
    await lab.change(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, note: 'of no interest' };
    });
    await lab.rest();
    expect(lab.record()?.metadata.resourceVersion).toBe(version);
  });

  it('is added to what another replica has written meanwhile', async () => {
    const lab = await aLab('14d');
    await lab.rest();
    let conflicts = 1;
    lab.cluster.intercept = ({ type, verb }) => {
      if (type !== ConfigMap || verb !== 'update' || conflicts-- <= 0) return undefined;
      return new ApiStatusError({ code: 409, reason: 'Conflict', message: 'changed' });
    };
    await lab.change(({ spec }) => void (spec.replicas = 5));
    expect([...(await lab.rest()).keys()]).toEqual([]);
    expect(lab.kinds().filter((kind) => kind === 'scaled')).toHaveLength(1);
  });

  it('is complete when a replica died before it wrote, and says nothing twice', async () => {
    const lab = await aLab('14d');
    await lab.rest();
    let dies = true;
    lab.cluster.intercept = ({ type, verb }) =>
      dies && type === ConfigMap && verb === 'update' ? new Error('killed') : undefined;
    await lab.change(({ spec }) => void (spec.replicas = 5));
    expect([...(await lab.rest()).keys()]).toEqual(['default/web']);
    dies = false;
    // Another replica begins with every key.
    const next = runController(createRecordController('apps/v1'), lab.cluster);
    next.add('default/web');
    await next.drain();
    next.add('default/web');
    await next.drain();
    expect(lab.kinds().filter((kind) => kind === 'scaled')).toHaveLength(1);
    const sizes = entriesOf(readRecord(lab.record())).flatMap(({ kind, sizes: each }) =>
      kind === 'sized' ? [each] : [],
    );
    expect(new Set(sizes.map((each) => JSON.stringify(each))).size).toBe(sizes.length);
    expect(lab.cluster.all(ReplicaSet)).toHaveLength(1);
  });
});
