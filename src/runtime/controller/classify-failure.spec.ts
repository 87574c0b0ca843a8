import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../client/api-client/index.js';
import { NameTakenError, TerminalError } from '../../machinery/errors/index.js';
import type { FailureClass } from './classify-failure.js';
import { classifyFailure } from './classify-failure.js';

const answer = (code: number, message = 'no', causes: { reason: string }[] = []) =>
  new ApiStatusError({ code, message, details: { causes } });
const forbidden = (why: string) => answer(403, `pods "web-5d-x7k2p" is forbidden: ${why}`);

const rows: readonly { name: string; error: unknown; is: FailureClass }[] = [
  { name: 'a connection that broke', error: new Error('socket hang up'), is: 'transient' },
  { name: 'a name that is taken again', error: new NameTakenError('web-5d'), is: 'transient' },
  { name: '401, since credentials are renewed', error: answer(401), is: 'transient' },
  { name: '404', error: answer(404), is: 'transient' },
  { name: '409', error: answer(409), is: 'transient' },
  { name: '410', error: answer(410), is: 'transient' },
  { name: '429', error: answer(429), is: 'transient' },
  { name: '500', error: answer(500), is: 'transient' },
  { name: '503', error: answer(503), is: 'transient' },
  {
    name: 'a service account that is not there yet',
    error: forbidden('error looking up service account shop/default: serviceaccount "default" not found'),
    is: 'transient',
  },
  {
    name: 'a quota without room',
    error: forbidden('exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2'),
    is: 'blocked',
  },
  {
    name: 'a quota that nobody has counted yet',
    error: forbidden('status unknown for quota: pods, resources: pods'),
    is: 'blocked',
  },
  {
    name: 'a namespace that goes away',
    error: answer(403, 'it is being terminated', [{ reason: 'NamespaceTerminating' }]),
    is: 'blocked',
  },
  {
    name: 'a right that is missing',
    error: answer(
      403,
      'pods is forbidden: User "rollkeeper" cannot create resource "pods" in API group "" in the namespace "shop"',
    ),
    is: 'blocked',
  },
  {
    name: 'a priority class that is missing',
    error: forbidden('no PriorityClass with name gold was found'),
    is: 'blocked',
  },
  {
    name: 'a runtime class that is missing',
    error: forbidden('pod rejected: RuntimeClass "gvisor" not found'),
    is: 'blocked',
  },
  {
    name: 'a quota that asks for what the template lacks',
    error: forbidden('failed quota: compute: must specify limits.cpu'),
    is: 'refused',
  },
  {
    name: 'Pod Security',
    error: forbidden('violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'),
    is: 'refused',
  },
  {
    name: 'a limit range',
    error: forbidden('maximum memory usage per Container is 1Gi, but limit is 2Gi'),
    is: 'refused',
  },
  {
    name: 'a webhook',
    error: answer(403, 'admission webhook "policy.example.com" denied the request: no latest'),
    is: 'refused',
  },
  { name: '400', error: answer(400), is: 'refused' },
  { name: '405', error: answer(405), is: 'refused' },
  { name: '413', error: answer(413), is: 'refused' },
  { name: '422', error: answer(422), is: 'refused' },
  { name: 'what the reconciler calls hopeless', error: new TerminalError('bad percent'), is: 'terminal' },
];

describe('classifyFailure', () => {
  it.each(rows)('takes $name for $is, also as a cause', ({ error, is }) => {
    expect(classifyFailure(error)).toBe(is);
    expect(classifyFailure(new Error('the sync failed', { cause: error }))).toBe(is);
  });
});
