import { describe, expect, it } from 'vitest';
import type { DiscoveryBody, DiscoveryDocument } from './discover.js';
import { Discovery } from './discover.js';

type Documents = Readonly<Record<string, DiscoveryBody | Error>>;

/** A server with these documents; an Error is a refusal. */
function aServer(documents: Documents) {
  const asked: { path: string; accept?: string; etag?: string }[] = [];
  const get = async (
    path: string,
    options: { accept?: string; etag?: string },
  ): Promise<DiscoveryDocument> => {
    asked.push({ path, ...options });
    const body = documents[path];
    if (body instanceof Error) throw body;
    return { body };
  };
  return { asked, get };
}

const resource = (name: string, verbs = ['get', 'list']) => ({ name, kind: 'K', namespaced: true, verbs });
const names = ({ resources }: Awaited<ReturnType<Discovery['discover']>>) =>
  resources.map(({ group, version, resource: plural }) => `${group}/${version}/${plural}`);

describe('discovery of a server that has no aggregated form', () => {
  const documents: Documents = {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': {
      kind: 'APIGroupList',
      groups: [
        {
          name: 'g',
          versions: [{ version: 'v1' }, { version: 'v2' }],
          preferredVersion: { version: 'v2' },
        },
        { name: 'broken', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      ],
    },
    '/api/v1': { resources: [resource('pods'), resource('pods/status'), resource('bindings', ['create'])] },
    '/apis/g/v1': { resources: [resource('both'), resource('old')] },
    '/apis/g/v2': { resources: [resource('both')] },
    '/apis/broken/v1': new Error('the service is away'),
  };

  it('finds every type in its preferred version, and names the group that failed', async () => {
    const found = await new Discovery().discover(aServer(documents).get);
    expect(names(found)).toEqual(['/v1/pods', '/v1/bindings', 'g/v2/both', 'g/v1/old']);
    expect(found.resources[0]).toEqual({
      group: '',
      version: 'v1',
      resource: 'pods',
      kind: 'K',
      namespaced: true,
      verbs: ['get', 'list'],
    });
    expect(found.failedGroups).toEqual([
      { groupVersion: 'broken/v1', error: new Error('the service is away') },
    ]);
  });

  it('fails where the list of groups cannot be had', async () => {
    const { get } = aServer({ ...documents, '/apis': new Error('no') });
    await expect(new Discovery().discover(get)).rejects.toThrow('no');
  });
});

describe('discovery of a server that has the aggregated form', () => {
  const aggregated = (items: NonNullable<DiscoveryBody['items']>) => ({
    kind: 'APIGroupDiscoveryList',
    items,
  });
  const plural = (name: string, scope = 'Namespaced', verbs = ['get', 'list']) => ({
    resource: name,
    responseKind: { group: '', version: '', kind: 'K' },
    scope,
    verbs,
    subresources: [{ subresource: 'status', verbs: ['get'] }],
  });
  const core = aggregated([
    { versions: [{ version: 'v1', resources: [plural('pods'), plural('nodes', 'Cluster')] }] },
  ]);
  const groups = aggregated([
    {
      metadata: { name: 'g' },
      versions: [
        { version: 'v2', resources: [plural('both')] },
        { version: 'v1', resources: [plural('both'), plural('old')] },
      ],
    },
    { metadata: { name: 'away' }, versions: [{ version: 'v1', freshness: 'Stale', resources: [] }] },
    { metadata: { name: 'odd' }, versions: [{ version: 'v1', resources: [{ resource: 'parents' }] }] },
  ]);

  it('asks two questions', async () => {
    const { asked, get } = aServer({ '/api': core, '/apis': groups });
    const found = await new Discovery().discover(get);
    expect(asked.map(({ path }) => path)).toEqual(['/api', '/apis']);
    expect(asked[0]?.accept).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
        'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
    );
    expect(names(found)).toEqual(['/v1/pods', '/v1/nodes', 'g/v2/both', 'g/v1/old']);
    expect(found.resources.map(({ namespaced }) => namespaced)).toEqual([true, false, true, true]);
  });

  it('returns every version of a resource if all are requested', async () => {
    const { get } = aServer({ '/api': core, '/apis': groups });
    const found = await new Discovery().discover(get, { everyVersion: true });
    expect(names(found)).toEqual(['/v1/pods', '/v1/nodes', 'g/v2/both', 'g/v1/both', 'g/v1/old']);
  });

  it('returns the other names of a resource, in either form', async () => {
    const pods = { ...plural('pods'), singularResource: 'pod', shortNames: ['po'] };
    const nodes = { ...resource('nodes'), singularName: 'node', shortNames: ['no'] };
    const found = await new Discovery().discover(
      aServer({
        '/api': { versions: ['v1'] },
        '/api/v1': { resources: [nodes] },
        '/apis': aggregated([{ metadata: { name: 'g' }, versions: [{ version: 'v1', resources: [pods] }] }]),
      }).get,
    );
    expect(found.resources.map(({ shortNames, singular }) => [singular, shortNames])).toEqual([
      ['node', ['no']],
      ['pod', ['po']],
    ]);
  });

  it('takes a group that the server could not refresh for failed', async () => {
    const { failedGroups } = await new Discovery().discover(aServer({ '/api': core, '/apis': groups }).get);
    expect(failedGroups).toEqual([
      { groupVersion: 'away/v1', error: new Error('stale GroupVersion discovery: away/v1') },
    ]);
  });

  it('also takes one half of it in the form of old', async () => {
    const { get } = aServer({
      '/api': { versions: ['v1'] },
      '/api/v1': { resources: [resource('pods')] },
      '/apis': groups,
    });
    expect(names(await new Discovery().discover(get))).toEqual(['/v1/pods', 'g/v2/both', 'g/v1/old']);
  });

  it('goes on with what it has where the server says that it still holds', async () => {
    const asked: (string | undefined)[] = [];
    let current = groups;
    const get = async (path: string, { etag }: { etag?: string }): Promise<DiscoveryDocument> => {
      if (path === '/api') return { body: core };
      asked.push(etag);
      const now = current === groups ? '"1"' : '"2"';
      return etag === now ? { body: undefined } : { body: current, etag: now };
    };
    const discovery = new Discovery();
    const first = await discovery.discover(get);
    expect(await discovery.discover(get)).toEqual(first);
    current = aggregated([
      { metadata: { name: 'new' }, versions: [{ version: 'v1', resources: [plural('n')] }] },
    ]);
    expect(names(await discovery.discover(get))).toEqual(['/v1/pods', '/v1/nodes', 'new/v1/n']);
    expect(asked).toEqual([undefined, '"1"', '"1"']);
  });
});
