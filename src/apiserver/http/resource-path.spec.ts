import { describe, expect, it } from 'vitest';
import { parseResourcePath } from './resource-path.js';

const none = { namespace: '', name: '', subresource: '' };
const core = { group: '', version: 'v1' };

describe('parseResourcePath', () => {
  it.each([
    ['/api/v1/pods', { group: '', version: 'v1', resource: 'pods', ...none }],
    ['/api/v1/namespaces', { group: '', version: 'v1', resource: 'namespaces', ...none }],
    ['/api/v1/namespaces/a', { group: '', version: 'v1', resource: 'namespaces', ...none, name: 'a' }],
    [
      '/api/v1/namespaces/a/finalize',
      { group: '', version: 'v1', resource: 'namespaces', namespace: '', name: 'a', subresource: 'finalize' },
    ],
    ['/api/v1/namespaces/a/pods', { group: '', version: 'v1', resource: 'pods', ...none, namespace: 'a' }],
    [
      '/apis/apps/v1/namespaces/a/deployments/b/scale',
      {
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        namespace: 'a',
        name: 'b',
        subresource: 'scale',
      },
    ],
    [
      '/api/v1/nodes/n/status',
      { group: '', version: 'v1', resource: 'nodes', namespace: '', name: 'n', subresource: 'status' },
    ],
    [
      '/api/v1/namespaces/a/pods/b/proxy/c/d',
      { ...core, namespace: 'a', resource: 'pods', name: 'b', subresource: 'proxy', rest: ['c', 'd'] },
    ],
    [
      '/api/v1/namespaces/a%2f..%2fb/secrets',
      { ...core, namespace: 'a', resource: '..', name: 'b', subresource: 'secrets' },
    ],
    [
      '/api/v1/namespaces/a/namespaces/b',
      { ...core, ...none, resource: 'namespaces', namespace: 'a', name: 'b' },
    ],
    [
      '/api/v1/watch/namespaces/a/pods/b',
      { ...core, ...none, resource: 'pods', namespace: 'a', name: 'b', prefix: 'watch' },
    ],
    [
      '/apis/apps/v1/watch/deployments',
      { ...none, group: 'apps', version: 'v1', resource: 'deployments', prefix: 'watch' },
    ],
    ['/api/v1/nodes/a%3Ab', { group: '', version: 'v1', resource: 'nodes', ...none, name: 'a:b' }],
  ])('%s', (path, expected) => {
    expect(parseResourcePath(path)).toEqual({ rest: [], prefix: '', ...expected });
  });

  it.each(['/api', '/api/v1', '/apis/apps', '/apis/apps/v1', '/healthz', '/api/v1/watch'])(
    '%s addresses no resource',
    (path) => {
      expect(parseResourcePath(path)).toBeUndefined();
    },
  );

  it('refuses what is not well-formed', () => {
    expect(() => parseResourcePath('/api/v1/nodes/%zz')).toThrow(/not well-formed/);
  });
});
