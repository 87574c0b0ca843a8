import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Node, PersistentVolumeClaim, Pod, ServiceAccount } from '../../src/machinery/kubernetes/index.js';
import { replicaProblems } from '../../src/rollkeeper/insight/diagnose/index.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { TEAM_TOKEN, asTheTeam, startTeamsAdmin } from './support/shop-team.js';

/** A replica that hangs, as the others see it. */
const HUNG = replicaProblems([{ identity: 'rk-2', adminUrl: '', reachable: false }]);

interface Answered {
  readonly problems: readonly { readonly kind: string; readonly namespace?: string; readonly name: string }[];
  readonly notes: readonly string[];
}

const HELD = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/hold'] };

/** Two namespaces with a claim that lost its volume in each, and a node that is silent. */
function troubled(): FakeCluster {
  const cluster = new FakeCluster();
  for (const namespace of ['shop', 'secret'])
    seed(cluster, PersistentVolumeClaim, `${namespace}-data`, namespace, {
      spec: {},
      status: { phase: 'Lost' },
    });
  seed(cluster, Node, 'n1', undefined, {
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }], allocatable: { pods: '9' } },
  });
  return cluster;
}

function seed(
  cluster: FakeCluster,
  type: ResourceType,
  name: string,
  namespace: string | undefined,
  fields: object,
  metadata: object = {},
): void {
  cluster.seed(type, {
    ...{ apiVersion: type.version, kind: type.kind },
    metadata: { name, ...metadata, ...(namespace !== undefined && { namespace }) },
    ...fields,
  });
}

describe('problems of the admin API', () => {
  let server: AdminServer;
  let cluster: FakeCluster;
  let ofTeam: FakeCluster;
  const asked: string[] = [];

  beforeEach(async () => {
    asked.length = 0;
    cluster = troubled();
    ofTeam = troubled();
    const asTeam = asTheTeam(ofTeam);
    server = await startTeamsAdmin({
      ...{ client: cluster, besides: { find: async () => HUNG } },
      clientAs: ({ token = '' }) => {
        asked.push(token);
        return asTeam;
      },
    });
  });
  afterEach(() => server.close());

  const get = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}${path}`, { headers });
    return { status: answer.status, body: (await answer.json()) as Answered & { readonly error?: string } };
  };
  const namesOf = ({ problems }: Answered) => problems.map(({ kind, name }) => `${kind} ${name}`);

  it('are all of them for a reader on this machine', async () => {
    const { body } = await get('/admin/problems');
    expect(namesOf(body)).toEqual([
      'Node n1',
      'Replica rk-2',
      'PersistentVolumeClaim shop-data',
      'PersistentVolumeClaim secret-data',
    ]);
    expect(namesOf((await get('/admin/problems?namespace=shop')).body)).toEqual([
      'PersistentVolumeClaim shop-data',
    ]);
    expect(asked).toEqual([]);
  });

  it('are those that the own rights of a user of the cluster show, also right after a look of another one', async () => {
    await get('/admin/problems?namespace=shop');
    const own = await get('/admin/problems?namespace=shop', TEAM_TOKEN);
    expect(namesOf(own.body)).toEqual(['PersistentVolumeClaim shop-data']);
    expect(own.body.notes[0]).toMatch(/^You may not list .*nodes/);
    const all = await get('/admin/problems', TEAM_TOKEN);
    expect(JSON.stringify(all.body)).not.toMatch(/secret|n1|rk-2/);
    expect(new Set(asked)).toEqual(new Set([TEAM_TOKEN]));
  });

  it('are objects of any kind that a finalizer holds as well, for those who may list them', async () => {
    for (const namespace of ['shop', 'secret'])
      for (const each of [cluster, ofTeam])
        seed(each, ServiceAccount, `${namespace}-held`, namespace, {}, HELD);
    expect(namesOf((await get('/admin/problems')).body)).toContain('ServiceAccount secret-held');
    const own = await get('/admin/problems?namespace=shop', TEAM_TOKEN);
    expect(namesOf(own.body)).toContain('ServiceAccount shop-held');
    expect(JSON.stringify((await get('/admin/problems', TEAM_TOKEN)).body)).not.toContain('secret-held');
  });

  it('are explained one by one, with the same rights', async () => {
    expect((await get('/admin/explain/pvc/shop/shop-data', TEAM_TOKEN)).status).toBe(200);
    const refused = await get('/admin/explain/pvc/secret/secret-data', TEAM_TOKEN);
    expect(refused).toEqual({ status: 403, body: { error: 'not yours' } });
    expect((await get('/admin/explain/node/n1', TEAM_TOKEN)).status).toBe(403);
    expect((await get('/admin/explain/node/n1')).body).toMatchObject({ kind: 'Node', state: 'degraded' });
  });

  it('name the kind and the scope that were wrong', async () => {
    expect(await get('/admin/explain/secret/shop/a')).toMatchObject({
      status: 404,
      body: { error: '"secret" is no kind that can be explained' },
    });
    expect((await get('/admin/explain/node/shop/n1')).status).toBe(404);
    expect((await get('/admin/explain/pvc/shop-data')).status).toBe(404);
    expect((await get('/admin/problems?namespace=..%2Fx')).status).toBe(400);
  });

  it('come, for a pod that no node takes, with the reason of each node', async () => {
    seed(cluster, Pod, 'big', 'shop', {
      spec: { containers: [], nodeSelector: { gpu: 'yes' } },
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    });
    const { body } = await get('/admin/explain/pods/shop/big');
    expect(body).toMatchObject({
      cause: 'unschedulable',
      placement: { state: 'refused', nodes: [{ node: 'n1', obstacles: [{ plugin: 'NodeAffinity' }] }] },
    });
  });
});
