import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogOptions } from '../../src/client/api-client/index.js';
import { ApiStatusError } from '../../src/client/api-client/index.js';
import type { ObjectRef, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Deployment, Event, Node, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import type { ObjectList, ObjectPage } from '../../src/rollkeeper/insight/object-pages/index.js';
import { ADMIN_TOKEN } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { TEAM_TOKEN, asTheTeam, startTeamsAdmin } from './support/shop-team.js';

/** Its pods say who reads them. */
class TalkingCluster extends FakeCluster {
  readonly read: { readonly pod: ObjectRef; readonly options: LogOptions }[] = [];

  override async *logs(
    pod: ObjectRef = { name: '' },
    options: LogOptions = {},
  ): AsyncGenerator<string, void> {
    this.read.push({ pod, options });
    const refusal = this.intercept({ verb: 'get', type: Pod, key: `${pod.namespace}/${pod.name}` });
    if (refusal) throw refusal;
    yield `hello from ${pod.namespace}/${pod.name}`;
  }
}

function seed(
  cluster: FakeCluster,
  type: ResourceType,
  name: string,
  namespace: string | undefined,
  fields: object = {},
  metadata: object = {},
): void {
  cluster.seed(type, {
    ...{ apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`, kind: type.kind },
    metadata: { name, ...(namespace !== undefined && { namespace }), ...metadata },
    ...fields,
  });
}

const owner = (apiVersion: string, kind: string, name: string) => ({
  ownerReferences: [{ apiVersion, kind, name, uid: `uid-${name}`, controller: true }],
});

/** Two namespaces, each with a Deployment, its ReplicaSet, a pod with a secret in it, and an Event. */
function twoShops(): TalkingCluster {
  const cluster = new TalkingCluster();
  for (const namespace of ['shop', 'secret']) {
    seed(cluster, Deployment, 'web', namespace, { spec: {} }, { uid: 'uid-web', labels: { app: 'web' } });
    seed(
      cluster,
      ReplicaSet,
      'web-1',
      namespace,
      {},
      { uid: 'uid-web-1', ...owner('apps/v1', 'Deployment', 'web') },
    );
    const containers = [{ name: 'app', image: 'web:1', env: [{ name: 'KEY', value: `${namespace}-value` }] }];
    seed(
      cluster,
      Pod,
      'web-1-a',
      namespace,
      { spec: { nodeName: 'n1', containers, initContainers: [{ name: 'init', image: 'init:1' }] } },
      {
        uid: 'uid-web-1-a',
        managedFields: [{ manager: 'kubectl', fieldsV1: {} }],
        ...owner('apps/v1', 'ReplicaSet', 'web-1'),
      },
    );
    seed(cluster, Event, 'web-1-a.1', namespace, {
      involvedObject: { kind: 'Pod', name: 'web-1-a', uid: 'uid-web-1-a' },
      ...{ type: 'Warning', reason: 'BackOff', message: `of ${namespace}`, count: 3 },
      lastTimestamp: '2026-01-01T11:59:00Z',
    });
  }
  seed(cluster, Node, 'n1', undefined);
  return cluster;
}

describe('objects of the admin API', () => {
  let server: AdminServer;
  let cluster: TalkingCluster;
  let asTeam: TalkingCluster;

  beforeEach(async () => {
    [cluster, asTeam] = [twoShops(), asTheTeam(twoShops())];
    server = await startTeamsAdmin({ client: cluster, clientAs: () => asTeam });
  });
  afterEach(() => server.close());

  const ask = (path: string, token?: string) =>
    fetch(`${server.url}/admin/objects${path}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
  const get = async <T>(path: string, token?: string) => {
    const answer = await ask(path, token);
    return { status: answer.status, body: (await answer.json()) as T & { readonly error?: string } };
  };

  it('have pages of every kind that can be explained, and of Deployments', async () => {
    const { body } = await get<{ word: string; namespaced: boolean }[]>('');
    const words = body.map(({ word }) => word);
    for (const word of ['deployments', 'deployments.rollkeeper.dev', 'pods', 'statefulsets', 'jobs', 'nodes'])
      expect(words).toContain(word);
    expect(words).not.toContain('secrets');
    expect(await get('/secrets')).toMatchObject({ status: 404 });
    expect(await get('/secrets/shop/a')).toMatchObject({ status: 404 });
  });

  it('are listed by words in their names and labels', async () => {
    const listed = async (query: string) => (await get<ObjectList>(`/deployments?${query}`)).body;
    expect(await listed('')).toMatchObject({ matching: 2, total: 2 });
    expect(await listed('namespace=shop')).toMatchObject({ items: [{ namespace: 'shop', name: 'web' }] });
    expect(await listed('find=secret+app%3Dweb')).toMatchObject({
      items: [{ namespace: 'secret' }],
      total: 2,
    });
    expect(await listed('find=none')).toMatchObject({ items: [], total: 2 });
    expect((await get(`/deployments?find=${'x'.repeat(201)}`)).status).toBe(400);
    expect((await get('/deployments?find=a&find=b')).status).toBe(400);
  });

  it('show what they belong to and what they made, their Events, and who set what apart from the YAML', async () => {
    const { body: pod } = await get<ObjectPage>('/pods/shop/web-1-a');
    expect(pod.owners).toEqual([
      { word: 'replicasets', kind: 'ReplicaSet', namespace: 'shop', name: 'web-1' },
    ]);
    expect(pod.events).toMatchObject([{ type: 'Warning', message: 'of shop', count: 3 }]);
    expect(pod.containers).toEqual(['app', 'init']);
    expect(pod.yaml).not.toContain('managedFields');
    expect(pod.managedFields).toContain('manager: kubectl');
    const { body: set } = await get<ObjectPage>('/replicasets/shop/web-1');
    expect(set.owners).toMatchObject([{ word: 'deployments', name: 'web' }]);
    expect(set.made).toEqual([{ word: 'pods', kind: 'Pod', namespace: 'shop', name: 'web-1-a' }]);
    const { body: node } = await get<ObjectPage>('/nodes/n1');
    expect(node.made.map(({ namespace }) => namespace).toSorted()).toEqual(['secret', 'shop']);
    expect(await get('/pods/shop/none')).toMatchObject({ status: 404 });
    expect(await get('/nodes/shop/n1')).toMatchObject({ status: 404 });
  });

  it('have no values that may be secret for readers who have not signed in', async () => {
    const { body } = await get<ObjectPage>('/pods/shop/web-1-a');
    expect(body.yaml).toContain('name: KEY');
    expect(body.yaml).not.toContain('shop-value');
    expect(body.notes[0]).toContain('hidden');
    for (const token of [ADMIN_TOKEN, TEAM_TOKEN]) {
      const { body: signedIn } = await get<ObjectPage>('/pods/shop/web-1-a', token);
      expect(signedIn.yaml).toContain('value: shop-value');
      expect(signedIn.notes).toEqual([]);
    }
  });

  it('are those of their own namespace for a user who has rights there alone', async () => {
    expect((await get('/pods?namespace=shop', TEAM_TOKEN)).body).toMatchObject({ total: 1 });
    for (const path of [
      '/pods',
      '/pods?namespace=secret',
      '/pods/secret/web-1-a',
      '/deployments/secret/web',
      '/nodes/n1',
      '/nodes',
    ])
      expect(await get(path, TEAM_TOKEN), path).toEqual({ status: 403, body: { error: 'not yours' } });
    const { body } = await get<ObjectPage>('/deployments/shop/web', TEAM_TOKEN);
    expect(body).toMatchObject({ made: [{ name: 'web-1' }], notes: [] });
    // Nothing was asked for with the rights of the replica.
    expect(cluster.requests).toEqual([]);
  });

  it('say what the reader may not list', async () => {
    asTeam.intercept = ({ type }) =>
      type === Event
        ? new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'not yours' })
        : undefined;
    const { body } = await get<ObjectPage>('/pods/shop/web-1-a', TEAM_TOKEN);
    expect(body.notes).toEqual(['You may not list its Events.']);
  });

  it('let the logs of a pod be followed by those who have signed in, with their own rights', async () => {
    const events = async (path: string, token?: string) => {
      const answer = await ask(path, token);
      const text = await answer.text();
      const data = text.split('\n').filter((line) => line.startsWith('data: '));
      return { status: answer.status, events: data.map((line) => JSON.parse(line.slice(6)) as object) };
    };
    const own = await events('/pods/shop/web-1-a/log?container=app&follow=true&lines=7', TEAM_TOKEN);
    expect(own.events).toEqual([{ type: 'log', lines: ['hello from shop/web-1-a'] }, { type: 'log-end' }]);
    expect(asTeam.read).toMatchObject([{ options: { container: 'app', follow: true, tailLines: 7 } }]);
    const others = await events('/pods/secret/web-1-a/log', TEAM_TOKEN);
    expect(others.events.at(-1)).toEqual({ type: 'log-end', problem: 'not yours' });
    expect(JSON.stringify(others.events)).not.toContain('hello');
    expect(cluster.read).toEqual([]);
    expect((await events('/pods/shop/web-1-a/log')).status).toBe(401);
    expect((await events('/pods/shop/web-1-a/log', ADMIN_TOKEN)).events).toHaveLength(2);
    expect((await events('/pods/shop/web-1-a/log?lines=1e9', ADMIN_TOKEN)).status).toBe(400);
  });
});
