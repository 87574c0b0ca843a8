import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { requestText, seenRequest } from './request-match.js';

it.each([
  ['GET', '/api/v1/namespaces/shop/pods?watch=1', 'watch pods in shop'],
  ['GET', '/apis/apps/v1/deployments', 'list deployments.apps'],
  ['GET', '/api/v1/namespaces/shop/pods/web/log?follow=true', 'get pods/web/log in shop'],
  ['POST', '/apis/batch/v1/namespaces/shop/jobs', 'create jobs.batch in shop'],
  [
    'PUT',
    '/apis/apps/v1/namespaces/shop/deployments/web/status',
    'update deployments.apps/web/status in shop',
  ],
  ['PATCH', '/api/v1/nodes/one', 'patch nodes/one'],
  ['DELETE', '/api/v1/namespaces/shop/pods', 'deletecollection pods in shop'],
])('%s %s is seen as: %s', (method, url, text) => {
  const request = seenRequest({ method, url } as IncomingMessage);
  expect(request && requestText(request)).toBe(text);
});

it.each(['/readyz', '/version', '/openapi/v2', '/apis', '/api/v1/%zz'])(
  '%s is no request for a resource',
  (url) => {
    expect(seenRequest({ method: 'GET', url } as IncomingMessage)).toBeUndefined();
  },
);
