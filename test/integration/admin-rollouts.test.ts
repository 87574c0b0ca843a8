import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Timeline } from '../../src/rollkeeper/insight/rollout/index.js';
import { ConfigMap, Deployment, ReplicaSet, newControllerRef } from '../../src/machinery/kubernetes/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { aDeployment } from '../../src/testing/deployment-builder.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';

const P = 'rollkeeper.dev/';
const PATH = '/admin/rollouts/default/web';

/** A canary of app:2 that waits for an approval, after a revision of app:1 with a password among its variables. */
async function waiting(cluster: FakeCluster): Promise<void> {
  const annotations = { [`${P}steps`]: '1; approve; 50%' };
  const wanted = aDeployment({ image: 'app:2', annotations });
  const { apiVersion, kind, metadata, spec } = wanted;
  const deployment = await cluster.create<Deployment>(Deployment, { apiVersion, kind, metadata, spec });
  const conditions = [
    {
      type: 'Progressing',
      status: 'Unknown',
      reason: 'WaitingForApproval',
      message: 'Step 2 of 3 (approve): …',
    },
  ];
  cluster.seed(Deployment, { ...deployment, status: { ...deployment.status, conditions } });
  for (const [index, image] of ['app:1', 'app:2'].entries()) {
    const { selector, template } = aDeployment({ image }).spec;
    const [container] = template.spec?.containers ?? [];
    if (container && index === 0) container.env = [{ name: 'PASSWORD', value: 'hunter2' }];
    const step = { revision: '2', done: 1, since: '2026-01-01T00:00:00Z' };
    await cluster.create<ReplicaSet>(ReplicaSet, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        ...{ namespace: 'default', name: `web-${index + 1}` },
        annotations: {
          'deployment.kubernetes.io/revision': String(index + 1),
          ...(index === 1 && { [`${P}step`]: JSON.stringify(step) }),
        },
        ownerReferences: [newControllerRef(deployment)],
      },
      spec: { replicas: 1, selector, template },
    });
  }
}

describe('the rollouts of the admin API', () => {
  let server: AdminServer;
  let cluster: FakeCluster;

  beforeEach(async () => {
    cluster = new FakeCluster();
    const ports = anAdminPorts({ informers: new FakeInformers(cluster), client: cluster });
    const options = { health: new HealthRegistry(), metrics: createMetrics(), status: ports.status, ports };
    server = await startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
    await fetch(`${server.url}${PATH}`);
    await waiting(cluster);
  });
  afterEach(() => server.close());

  const get = async (path: string) => {
    const answer = await fetch(`${server.url}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const post = async (verb: string, body: object) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}${PATH}/${verb}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const annotation = async (name: string): Promise<string | undefined> => {
    const web = await cluster.get<Deployment>(Deployment, { namespace: 'default', name: 'web' });
    return web.metadata.annotations?.[P + name];
  };

  it('shows where a rollout is in its steps, and its revisions, newest first', async () => {
    const { status, text } = await get(PATH);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      track: {
        steps: [{ step: '1', state: 'done' }, { step: 'approve', state: 'current' }, { state: 'ahead' }],
      },
      history: [{ revision: 2, isCurrent: true }, { revision: 1 }],
      canRetry: false,
    });
    expect((await get('/admin/rollouts/default/other')).status).toBe(404);
  });

  it('has a time line from the kept history and what is live, and says what is wrong with its query', async () => {
    const web = await cluster.get<Deployment>(Deployment, { namespace: 'default', name: 'web' });
    const kept = {
      at: '2025-12-30T00:00:00Z',
      kind: 'scaled',
      sizes: { from: 3, to: 5 },
      means: 'autoscaler',
    };
    const name = `rollkeeper-history-${web.metadata.uid}`;
    cluster.seed<ConfigMap>(ConfigMap, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
      data: { recent: `${JSON.stringify(kept)}\n` },
    });
    cluster.seed(Deployment, {
      ...web,
      metadata: { ...web.metadata, annotations: { ...web.metadata.annotations, [`${P}history`]: '14d' } },
    });
    const { status, text } = await get(`${PATH}/timeline`);
    expect(status).toBe(200);
    const timeline = JSON.parse(text) as Timeline;
    expect(timeline).toMatchObject({
      ...{ namespace: 'default', name: 'web', api: 'apps/v1', keptFor: '14d', since: kept.at, notes: [] },
      entries: [{ ...kept, what: 'scaled 3 → 5' }, ...timeline.entries.slice(1)],
    });
    expect(timeline.entries.filter(({ kind }) => kind === 'asked')).toHaveLength(2);
    expect((await get(`${PATH}/timeline?since=2025-12-31T00:00:00Z&events=false`)).text).not.toContain(
      'scaled',
    );
    expect(await get(`${PATH}/timeline?since=soon`)).toMatchObject({
      status: 400,
      text: expect.stringContaining('since must be a duration') as string,
    });
    expect((await get('/admin/rollouts/default/other/timeline')).status).toBe(404);
  });

  it('shows what a way back would change, without values that may be secret', async () => {
    const { text } = await get(`${PATH}/changes?revision=1`);
    expect(JSON.parse(text)).toEqual({
      changes: [
        { field: 'container web: image', from: 'app:2', to: 'app:1' },
        { field: 'container web: env PASSWORD', to: '…' },
      ],
    });
    expect((await get(`${PATH}/changes?revision=9`)).status).toBe(409);
    expect((await get(`${PATH}/changes?revision=x`)).status).toBe(400);
  });

  it('approves in the name of the one who asks, and refuses what makes no sense now', async () => {
    expect((await post('promote', { by: ' ' })).text).toContain('says who asks');
    expect(await annotation('approve')).toBeUndefined();
    expect((await post('promote', { by: 'anna' })).status).toBe(200);
    expect(await annotation('approve'), 'with the user of the port').toMatch(/^anna( \(.+\))?$/);
    expect((await post('retry', { by: 'anna' })).status).toBe(409);
    expect((await post('abort', { by: 'anna', extra: 1 })).status).toBe(400);
    expect((await post('abort', { by: 'anna' })).status).toBe(200);
    expect(await annotation('abort')).toMatch(/^anna( \(.+\))?$/);
  });

  it('rolls back to a revision, and keeps who asked and why', async () => {
    const { status, text } = await post('undo', { by: 'anna', revision: 1, reason: 'slow' });
    expect(status).toBe(200);
    expect(text).not.toContain('hunter2');
    expect(await annotation('change')).toMatch(/"trigger":"undo","why":"slow","by":"anna"/);
    const web = await cluster.get<Deployment>(Deployment, { namespace: 'default', name: 'web' });
    expect(web.spec.template.spec?.containers[0]?.image).toBe('app:1');
  });
});
