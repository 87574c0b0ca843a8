import { expect, it } from 'vitest';
import { parseResourcePath } from '../../http/index.js';
import { attributesOf } from './request-attributes.js';

function ask(method: string, url: string): unknown {
  const [path = '', query] = url.split('?');
  const parameters = new URLSearchParams(query);
  const flag = (name: string): boolean => parameters.get(name) === 'true';
  return attributesOf({ method, path, query: parameters, flag, target: parseResourcePath(path) });
}

const pods = { group: '', resource: 'pods', subresource: '', namespace: 'shop', name: '' };

it.each([
  ['GET', '/api/v1/namespaces/shop/pods', { ...pods, verb: 'list' }],
  ['GET', '/api/v1/namespaces/shop/pods?watch=true', { ...pods, verb: 'watch' }],
  ['DELETE', '/api/v1/namespaces/shop/pods', { ...pods, verb: 'deletecollection' }],
  [
    'POST',
    '/api/v1/namespaces/shop/pods/p/eviction',
    { ...pods, verb: 'create', name: 'p', subresource: 'eviction' },
  ],
  ['HEAD', '/api/v1/namespaces/shop/pods/p', { ...pods, verb: 'get', name: 'p' }],
  [
    'PATCH',
    '/apis/apps/v1/namespaces/shop/deployments/d/scale',
    {
      verb: 'patch',
      group: 'apps',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'shop',
      name: 'd',
    },
  ],
  ['GET', '/api/v1/namespaces/shop/pods/p?watch=true', { ...pods, verb: 'get', name: 'p' }],
  ['GET', '/api/v1/watch/namespaces/shop/pods/p', { ...pods, verb: 'watch', name: 'p' }],
  [
    'DELETE',
    '/api/v1/watch/namespaces/shop/pods?fieldSelector=metadata.name%3Dp',
    { ...pods, verb: 'watch' },
  ],
  ['GET', '/api/v1/proxy/namespaces/shop/pods/p/x', { ...pods, verb: 'proxy', name: 'p', subresource: 'x' }],
  [
    'GET',
    '/api/v1/namespaces/shop/pods/../../a/secrets',
    { ...pods, verb: 'get', name: '..', subresource: '..' },
  ],
  [
    'GET',
    '/api/v1/namespaces/shop/namespaces/a',
    { ...pods, verb: 'get', resource: 'namespaces', name: 'a' },
  ],
  ['PUT', '/api/v1/namespaces/shop', { ...pods, verb: 'update', resource: 'namespaces', name: 'shop' }],
  [
    'PUT',
    '/api/v1/namespaces/shop/finalize',
    { ...pods, verb: 'update', resource: 'namespaces', name: 'shop', subresource: 'finalize' },
  ],
  [
    'GET',
    '/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dp',
    { ...pods, verb: 'list', name: 'p' },
  ],
  [
    'GET',
    '/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dp,status.phase%3DRunning',
    { ...pods, verb: 'list', name: 'p' },
  ],
  [
    'GET',
    '/api/v1/namespaces/shop/pods?watch=true&fieldSelector=status.phase!%3DFailed,metadata.name%3D%3Dp',
    { ...pods, verb: 'watch', name: 'p' },
  ],
  ...[
    'metadata.name!%3Dp',
    'metadata.name%3Da/b',
    'metadata.name%3D..',
    'metadata.name%3Dp,x',
    'spec.name%3Dp',
  ].map((selector): [string, string, object] => [
    'GET',
    `/api/v1/namespaces/shop/pods?fieldSelector=${selector}`,
    { ...pods, verb: 'list' },
  ]),
  ['POST', '/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dp', { ...pods, verb: 'create' }],
  [
    'DELETE',
    '/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dp',
    { ...pods, verb: 'deletecollection' },
  ],
  ['PUT', '/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dp', { ...pods, verb: 'update' }],
  ['PATCH', '/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dp', { ...pods, verb: 'patch' }],
  ['GET', '/apis/apps/v1', { path: '/apis/apps/v1', verb: 'get' }],
  ['POST', '/metrics', { path: '/metrics', verb: 'post' }],
])('%s %s is asked about as kube-apiserver does', (method, url, attributes) => {
  expect(ask(method, url)).toMatchObject(attributes);
});
