import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { MemoryStorage, RedisStorage } from '../../src/apiserver/index.js';
import type { Storage } from '../../src/apiserver/index.js';
import type { ApiAnswer, RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const NAMESPACES = ['alice', 'mallory', 'mallory-2', 'zoe'];
const OWN = '/api/v1/namespaces/mallory/secrets';
const TOO_OLD = /^The provided continue parameter is too old to display a consistent list result\./;

const STORES: readonly (readonly [string, () => Storage])[] = [
  ['in memory', () => new MemoryStorage()],
  ['on Redis', () => new RedisStorage({ url: inject('redisUrl'), keyPrefix: `ranges-${randomUUID()}:` })],
];

/** A token as servers made them that neither bound nor sealed it. */
function madeUp(start: string, rv: number): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');
}

describe.each(STORES)('a user who may list the secrets of one namespace, %s,', (_name, makeStorage) => {
  let server: RunningApiServer;
  let revision: number;

  beforeAll(async () => {
    server = await startApiServer({
      storage: makeStorage(),
      users: [{ token: 'mallorys-token', username: 'mallory' }],
    });
    for (const namespace of NAMESPACES) {
      await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
      for (const name of ['a', 'b', 'c']) {
        const secrets = `/api/v1/namespaces/${namespace}/secrets`;
        await server.call('POST', secrets, { metadata: { name }, stringData: { of: namespace } });
      }
    }
    await server.call('POST', `${RBAC}/namespaces/mallory/roles`, {
      metadata: { name: 'lister' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch', 'deletecollection'] }],
    });
    await server.call('POST', `${RBAC}/namespaces/mallory/rolebindings`, {
      metadata: { name: 'lister' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'lister' },
      subjects: [{ kind: 'User', name: 'mallory', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    revision = await server.storage.currentRevision();
  });
  afterAll(() => server.stop());

  const ask = (query: string, method = 'GET'): Promise<ApiAnswer> =>
    server.call(method, `${OWN}?${query}`, undefined, { authorization: 'Bearer mallorys-token' });
  const namesOf = ({ body }: ApiAnswer): string[] =>
    (body.items as { metadata: { namespace: string; name: string } }[]).map(
      ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
    );
  const tokenOf = async (path: string): Promise<string> =>
    (await server.call('GET', `${path}?limit=1`)).body.metadata.continue as string;

  const all = ['mallory/a', 'mallory/b', 'mallory/c'];

  it('sees those alone in an exact list, of any state', async () => {
    for (const age of [0, 1, 2]) {
      const answer = await ask(`resourceVersionMatch=Exact&resourceVersion=${revision - age}`);
      expect(namesOf(answer)).toEqual(all);
    }
  });

  it('sees them page by page, with the number of those that are left', async () => {
    const one = await ask('limit=2');
    expect(namesOf(one)).toEqual(all.slice(0, 2));
    expect(one.body.metadata.remainingItemCount).toBe(1);
    const two = await ask(`limit=2&continue=${one.body.metadata.continue}`);
    expect(namesOf(two)).toEqual(all.slice(2));
    expect(two.body.metadata.continue).toBeUndefined();
  });

  it('may change the selectors from page to page, and not the version', async () => {
    const token = await tokenOf(OWN);
    expect(namesOf(await ask(`continue=${token}&fieldSelector=metadata.name!%3Db`))).toEqual(['mallory/c']);
    expect(namesOf(await ask(`continue=${token}&resourceVersion=0`))).toEqual(all.slice(1));
    const refused = await ask(`continue=${token}&resourceVersion=${revision}`);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBe('specifying resource version is not allowed when using continue');
  });

  it('is refused with a token that another list was given, or that nobody was', async () => {
    const tokens = [
      await tokenOf('/api/v1/namespaces/alice/secrets'),
      await tokenOf('/api/v1/secrets'),
      await tokenOf('/api/v1/namespaces'),
      madeUp('/', revision),
      madeUp('../alice/a', revision),
      'x',
    ];
    for (const token of tokens) {
      const { body, status } = await ask(`continue=${token}`);
      expect({ status, reason: body.reason }).toEqual({ status: 400, reason: 'BadRequest' });
      expect(body.message).toMatch(/^invalid continue token: continue key is not valid/);
    }
  });

  it('gets no other objects by a token in the form of a genuine server, although the client can choose its position', async () => {
    const { body, status } = await ask(`continue=${madeUp('alice/a', revision)}`);
    expect({ status, reason: body.reason }).toEqual({ status: 410, reason: 'Expired' });
    const rest = await ask(`continue=${body.metadata.continue}`);
    expect(namesOf(rest)).toEqual(all);
  });

  it('watches those alone, whatever the version that it begins with', async () => {
    for (const query of ['', `&resourceVersion=${revision - 12}`, '&resourceVersion=0']) {
      const { text } = await ask(`watch=true&timeoutSeconds=1${query}`);
      expect(text).not.toMatch(/"namespace":"(alice|zoe|mallory-2)"/);
    }
  });

  it('goes on with the newest state when that of a token is gone, if it wants to', async () => {
    const token = await tokenOf(OWN);
    await server.call('PATCH', `${OWN}/c`, '{"metadata":{"labels":{"a":"b"}}}', {
      'content-type': 'application/merge-patch+json',
    });
    await server.storage.compact(await server.storage.currentRevision());
    const { body, status } = await ask(`continue=${token}`);
    expect({ status, reason: body.reason }).toEqual({ status: 410, reason: 'Expired' });
    expect(body.message).toMatch(TOO_OLD);
    expect(namesOf(await ask(`continue=${body.metadata.continue}`))).toEqual(all.slice(1));
    const exact = await ask(`resourceVersionMatch=Exact&resourceVersion=${revision - 1}`);
    expect({ status: exact.status, message: exact.body.message }).toEqual({
      status: 410,
      message: 'The resourceVersion for the provided list is too old.',
    });
  });

  it('deletes those alone, whatever the parameters', async () => {
    const token = await tokenOf('/api/v1/namespaces/alice/secrets');
    for (const query of [
      `continue=${token}`,
      `continue=${madeUp('/', revision)}`,
      'fieldSelector=metadata.namespace%3Dalice',
      '',
    ])
      await ask(query, 'DELETE');
    const left = await server.call('GET', '/api/v1/secrets');
    expect(namesOf(left).filter((name) => name.startsWith('mallory/'))).toEqual([]);
    expect(namesOf(left)).toHaveLength(9);
  });
});
