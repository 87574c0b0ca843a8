import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ControllerRevision } from '../../src/controllers/shared/index.js';
import type { PlaceNode } from '../../src/controllers/set-rollouts/index.js';
import { NODE_PLACES } from '../../src/controllers/set-rollouts/index.js';
import { renderKeptState } from '../../src/controllers/set-rollouts/kept-state.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Node, Pod } from '../../src/machinery/kubernetes/index.js';
import { DaemonLab } from '../../src/controllers/set-rollouts/daemon-lab.fixture.js';
import { SetLab } from '../../src/controllers/set-rollouts/set-lab.fixture.js';
import { DaemonSet, StatefulSet } from '../../src/runtime/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';
import { FeedReader } from './support/feed-reader.js';

const WAITS = 'Step 2 of 3 waits for an approval';
const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'db-uid', controller: true };

/** The revision of an image of the set. */
function aRevision(name: string, revision: number, image: string): KubernetesObject {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', revision },
    metadata: {
      ...{ name, namespace: 'shop', uid: name, ownerReferences: [OWNER] },
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
    },
    data: { spec: { template: templateOf(image) } },
  } as KubernetesObject;
}

function templateOf(image: string) {
  return { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'db', image }] } };
}

function aPod(name: string, revision: string): KubernetesObject {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name, namespace: 'shop', uid: name, ownerReferences: [OWNER] },
      labels: { app: 'db', 'controller-revision-hash': revision },
    },
    spec: { containers: [{ name: 'db', image: 'db' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  } as KubernetesObject;
}

/** A cluster with the objects of a lab. */
function clusterOf(lab: DaemonLab | SetLab): FakeCluster {
  const cluster = new FakeCluster();
  cluster.seed(lab instanceof DaemonLab ? DaemonSet : StatefulSet, lab.set);
  if (lab instanceof DaemonLab) for (const node of lab.nodes) cluster.seed(Node, node);
  for (const revision of lab.revisions) cluster.seed(ControllerRevision, revision);
  for (const pod of lab.pods) cluster.seed(Pod, pod);
  return cluster;
}

/** An admin server of a replica that leads the rollouts of the sets of one kind. */
async function serveSets(cluster: FakeCluster, type: typeof StatefulSet | typeof DaemonSet) {
  const informers = new FakeInformers(cluster);
  const isDaemonSet = type === DaemonSet;
  const controller = isDaemonSet ? 'daemonset-rollout' : 'statefulset-rollout';
  const sets = {
    ...({ kind: isDaemonSet ? 'DaemonSet' : 'StatefulSet', controller } as const),
    sets: informers.informerFor<StatefulSet | DaemonSet>(type),
    revisions: informers.informerFor<ControllerRevision>(ControllerRevision),
    pods: informers.informerFor<Pod>(Pod),
    ...(isDaemonSet && { nodes: informers.partialInformerFor<PlaceNode>(NODE_PLACES) }),
  };
  const { status: base } = anAdminPorts();
  const own = await base.status();
  const controllers = own.controllers.map((each) => ({ ...each, name: controller }));
  const ports = anAdminPorts({
    ...{ informers, client: cluster, sets: () => [sets] },
    status: { leadership: () => base.leadership(), status: async () => ({ ...own, controllers }) },
  });
  const options = { health: new HealthRegistry(), metrics: createMetrics(), status: ports.status, ports };
  const server = await startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const asked = body && { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(server.url + path, { headers, ...asked })).json();
  };
  return { server, ports, ask };
}

type Served = Awaited<ReturnType<typeof serveSets>>;

/** A set whose rollout has replaced one pod of two, and waits for an approval. */
function waitingSet(): KubernetesObject {
  const condition = { type: 'Progressing', status: 'Unknown', reason: 'WaitingForApproval', message: WAITS };
  const status = { observedGeneration: 1, conditions: [condition] };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
    metadata: {
      ...{ name: 'db', namespace: 'shop', uid: 'db-uid', generation: 1 },
      annotations: {
        'rollkeeper.dev/steps': '1; approve',
        'rollkeeper.dev/rollout': renderKeptState({ original: '0', revision: '2', status }),
      },
    },
    spec: {
      ...{ replicas: 2, selector: { matchLabels: { app: 'db' } }, template: templateOf('db:2') },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
    },
    status: { observedGeneration: 1, replicas: 2, currentRevision: 'db-1', updateRevision: 'db-2' },
  } as KubernetesObject;
}

describe('the rollout of a StatefulSet that is under policies', () => {
  let cluster: FakeCluster;
  let served: Served;
  let reader: FeedReader;

  beforeEach(async () => {
    cluster = new FakeCluster();
    const plain = waitingSet();
    const { annotations: _none, ...metadata } = plain.metadata;
    cluster.seed(StatefulSet, waitingSet());
    cluster.seed(StatefulSet, { ...plain, metadata: { ...metadata, name: 'plain', uid: 'plain-uid' } });
    cluster.seed(ControllerRevision, aRevision('db-1', 1, 'db:1'));
    cluster.seed(ControllerRevision, aRevision('db-2', 2, 'db:2'));
    cluster.seed(Pod, aPod('db-0', 'db-1'));
    cluster.seed(Pod, aPod('db-1', 'db-2'));
    served = await serveSets(cluster, StatefulSet);
    reader = new FeedReader(() => [served.ports.clock]);
  });
  afterEach(async () => {
    reader.close();
    await served.server.close();
  });

  const ask: Served['ask'] = (path, body) => served.ask(path, body);

  it('has a row in the list, and a set without policies has none', async () => {
    await reader.open(`${served.server.url}/admin/events`, ADMIN_TOKEN);
    await reader.sees(['shop/db?kind=StatefulSet']);
    expect(reader.text).toContain('"kind":"StatefulSet"');
  });

  it('is explained in the form of a Deployment, within the limits of its own controller', async () => {
    expect(await ask('/admin/rollouts/shop/db/explanation?kind=StatefulSet')).toMatchObject({
      state: 'progressing',
      limits: { replicas: 2, ceiling: 2, floor: 1, maxSurge: 0, maxUnavailable: 1 },
      replicaSets: [
        { name: 'db-2', role: 'new', size: 1, because: [] },
        { name: 'db-1', role: 'old', size: 1, because: [] },
      ],
    });
  });

  it('shows its revisions, and what going back would change', async () => {
    const { history } = (await ask('/admin/rollouts/shop/db?kind=StatefulSet')) as {
      history: { revision: number; images: string[] }[];
    };
    expect(history.map(({ images, revision }) => [revision, images])).toEqual([
      [2, ['db:2']],
      [1, ['db:1']],
    ]);
    expect(await ask('/admin/rollouts/shop/db/changes?kind=StatefulSet&revision=1')).toMatchObject({
      changes: [{ from: 'db:2', to: 'db:1' }],
    });
  });

  it('takes the approval of a person', async () => {
    const done = await ask('/admin/rollouts/shop/db/promote?kind=StatefulSet', { by: 'anna' });
    expect(done).toMatchObject({ said: expect.stringContaining('approved by anna') });
    const { metadata } = await cluster.get<StatefulSet>(StatefulSet, { namespace: 'shop', name: 'db' });
    expect(metadata.annotations).toMatchObject({ 'rollkeeper.dev/approve': 'anna' });
  });

  it('is of a kind that has rollouts, and of one that is led here', async () => {
    expect(await ask('/admin/rollouts/shop/db?kind=Job')).toEqual({
      error: 'kind must be StatefulSet or DaemonSet',
    });
    expect(await ask('/admin/rollouts/shop/db?kind=DaemonSet')).toEqual({
      error: 'no controller leads rollouts of a DaemonSet here',
    });
  });
});

it('shows that a DaemonSet whose maxUnavailable is 0 has one node at a time without an available pod', async () => {
  const updateStrategy = {
    type: 'RollingUpdate',
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
  } as const;
  const lab = await DaemonLab.rolledOut({ steps: '1; approve' }, { spec: { updateStrategy } });
  const { ask, server } = await serveSets(clusterOf(lab), DaemonSet);
  try {
    expect(await ask('/admin/rollouts/default/db/explanation?kind=DaemonSet')).toMatchObject({
      limits: { replicas: 4, floor: 3, maxUnavailable: 1 },
    });
  } finally {
    await server.close();
  }
});

it('shows no pods of a DaemonSet on nodes that its controller wants none on any more', async () => {
  const lab = await DaemonLab.rolledOut({ steps: '1; approve' });
  lab.taint('b', 'NoSchedule');
  await lab.rest();
  const { ports, server } = await serveSets(clusterOf(lab), DaemonSet);
  const reader = new FeedReader(() => [ports.clock]);
  try {
    await reader.open(`${server.url}/admin/events`, ADMIN_TOKEN);
    await reader.sees(['default/db?kind=DaemonSet']);
    expect(reader.row('default/db?kind=DaemonSet')).toMatchObject({ sets: [{ size: 3, pods: 'aaa' }] });
  } finally {
    reader.close();
    await server.close();
  }
});

/* The controllers of the rollouts themselves have written the state of these sets. */
describe.each(['StatefulSet', 'DaemonSet'] as const)('a %s at a step that needs an approval', (kind) => {
  let served: Served;
  let reader: FeedReader;

  beforeEach(async () => {
    const policies = { steps: '25%; approve; 50%; approve' };
    const isDaemonSet = kind === 'DaemonSet';
    const lab = isDaemonSet ? await DaemonLab.rolledOut(policies) : await SetLab.rolledOut(policies);
    await lab.image('db:2');
    served = await serveSets(clusterOf(lab), isDaemonSet ? DaemonSet : StatefulSet);
    reader = new FeedReader(() => [served.ports.clock]);
  });
  afterEach(async () => {
    reader.close();
    await served.server.close();
  });

  it('has a row with the cause, and the pods of both versions', async () => {
    await reader.open(`${served.server.url}/admin/events`, ADMIN_TOKEN);
    await reader.sees([`default/db?kind=${kind}`]);
    const row = reader.row(`default/db?kind=${kind}`);
    expect(row).toMatchObject({
      ...{ kind, state: 'progressing', cause: 'waits-for-approval' },
      sets: [
        { role: 'new', images: ['db:2'], size: 1, available: 1, pods: 'a' },
        { role: 'old', images: ['db:1'], size: 3, available: 3, pods: 'aaa' },
      ],
    });
  });

  it('is explained with the cause, and with what would end the wait', async () => {
    const word = kind.toLowerCase();
    expect(await served.ask(`/admin/rollouts/default/db/explanation?kind=${kind}`)).toMatchObject({
      ...{ state: 'progressing', cause: 'waits-for-approval' },
      limits: { replicas: 4, ceiling: 4, floor: 3, maxUnavailable: 1 },
      waitsFor: [
        {
          cause: 'waits-for-approval',
          severity: 'waits',
          unblockedBy: [
            expect.stringContaining(`rollkeeper promote ${word}/db`),
            expect.stringContaining('rollkeeper abort'),
          ],
        },
      ],
    });
  });

  it('has a track with its position, and its revisions', async () => {
    expect(await served.ask(`/admin/rollouts/default/db?kind=${kind}`)).toMatchObject({
      track: { steps: ['done', 'current', 'ahead', 'ahead'].map((state) => ({ state })) },
      history: [
        { revision: 2, images: ['db:2'] },
        { revision: 1, images: ['db:1'] },
      ],
    });
  });
});
