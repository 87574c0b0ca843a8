import { describe, expect, it } from 'vitest';
import type { AccessRules, RequestFacts } from './decide-access.js';
import { decideAccess, reviewedPath } from './decide-access.js';

const fromElsewhere: RequestFacts = {
  method: 'GET',
  path: '/admin/status',
  remoteAddress: '10.0.0.9',
  host: 'rollkeeper:8080',
  origin: undefined,
  authorization: 'Bearer some-token',
  forwarded: false,
};
const TOKEN = 'a-token-that-nobody-would-guess';
const delegated: AccessRules = { token: TOKEN, delegated: true };

describe('access where the cluster decides', () => {
  it('is asked about a token that is not ours, with the method as the verb', () => {
    expect(decideAccess({ ...fromElsewhere, method: 'POST' }, delegated)).toEqual({
      decision: 'ask',
      question: { token: 'some-token', verb: 'post', path: '/admin/status' },
    });
  });

  it('is not asked about our own token, about none, or about something else than a bearer token', () => {
    const decide = (authorization: string | undefined): string =>
      decideAccess({ ...fromElsewhere, authorization }, delegated).decision;
    expect(decide(`Bearer ${TOKEN}`)).toBe('allow');
    expect(decide(undefined)).toBe('refuse');
    for (const other of ['', 'Bearer', 'Bearer ', 'Basic YTpi', 'some-token', 'Bearer a b'])
      expect(decide(other)).toBe('refuse');
  });

  it('is not asked unless it was chosen', () => {
    for (const token of [TOKEN, undefined])
      expect(decideAccess(fromElsewhere, { token, delegated: false }).decision).toBe('refuse');
  });

  it('is not asked for the sake of another site', () => {
    const facts = { ...fromElsewhere, origin: 'http://evil.example' };
    expect(decideAccess(facts, delegated)).toMatchObject({ decision: 'refuse', status: 403 });
  });

  it.each([
    ['/admin/status', '/admin/status'],
    ['/admin/status/', '/admin/status'],
    ['/ADMIN/Status', '/admin/status'],
    ['/admin/explain/deployments/shop/web.v2_x-1', '/admin/explain/deployments/shop/web.v2_x-1'],
    ['/admin/...', '/admin/...'],
  ])('is asked about the path of the route: %s', (path, asked) => {
    expect(reviewedPath(path)).toBe(asked);
  });

  it.each([
    '',
    '//admin/status',
    '/admin//status',
    '/admin/status//',
    '/admin/./status',
    '/admin/x/../status',
    '/admin/..',
    '/admin/%73tatus',
    '/admin/status%2f',
    '/admin\\status',
    '/admin/status;x',
    '/admin/status\n',
    '/admin/ſtatus',
    'admin/status',
  ])('is not asked about a path that no route has: %j', (path) => {
    expect(reviewedPath(path)).toBeUndefined();
    expect(decideAccess({ ...fromElsewhere, path }, delegated)).toMatchObject({
      decision: 'refuse',
      status: 403,
    });
  });
});

describe('access to the metrics', () => {
  const decide = (facts: Partial<RequestFacts>, rules: Partial<AccessRules> = {}): string =>
    decideAccess(
      { ...fromElsewhere, path: '/metrics', authorization: undefined, ...facts },
      { token: TOKEN, delegated: false, ...rules },
    ).decision;

  it('is everybody on this machine, and elsewhere whoever has the token or is let in by the cluster', () => {
    expect(decide({ remoteAddress: '127.0.0.1', host: '127.0.0.1:8080' })).toBe('allow');
    expect(decide({})).toBe('refuse');
    expect(decide({ authorization: `Bearer ${TOKEN}` })).toBe('allow');
    expect(decide({ authorization: 'Bearer guess' })).toBe('refuse');
    expect(decide({ authorization: 'Bearer prometheus' }, { delegated: true })).toBe('ask');
  });

  it('is everybody where they are open, and what else there is stays shut', () => {
    const open = { openMetrics: true };
    expect(decide({}, open)).toBe('allow');
    expect(decide({ method: 'HEAD' }, open)).toBe('allow');
    expect(decide({ method: 'POST' }, open)).toBe('refuse');
    for (const path of ['/METRICS', '/metrics/', '/metrics/x', '//metrics', '/admin/status'])
      expect(decide({ path }, open)).toBe('refuse');
  });
});

describe('read access on this machine', () => {
  const local: RequestFacts = {
    ...fromElsewhere,
    remoteAddress: '127.0.0.1',
    host: '127.0.0.1:8080',
    authorization: undefined,
  };

  it('is our own user alone where that is asked for, as far as the system tells users apart', () => {
    const rules = { token: TOKEN, delegated: false, localReads: 'own-user' } as const;
    for (const isOwnUser of [true, undefined])
      expect(decideAccess({ ...local, isOwnUser }, rules)).toEqual({ decision: 'allow', because: 'local' });
    expect(decideAccess({ ...local, isOwnUser: false }, rules)).toMatchObject({
      decision: 'refuse',
      status: 401,
      why: 'reading needs a token',
    });
    const elsewhere = { ...local, remoteAddress: '192.0.2.1', isOwnUser: true };
    expect(decideAccess(elsewhere, rules)).toMatchObject({ decision: 'refuse', status: 401 });
  });

  it('is everybody, unless a token is asked for there as from elsewhere', () => {
    const rules = { token: TOKEN, delegated: false };
    expect(decideAccess(local, rules)).toEqual({ decision: 'allow', because: 'local' });
    expect(decideAccess(local, { ...rules, localReads: 'token' })).toMatchObject({
      decision: 'refuse',
      status: 401,
      why: 'reading needs a token',
    });
    const known = { ...local, authorization: `Bearer ${TOKEN}` };
    expect(decideAccess(known, { ...rules, localReads: 'token' }).decision).toBe('allow');
  });

  it('is still everybody for probes and the files of the console', () => {
    for (const path of ['/livez', '/readyz', '/console'])
      expect(decideAccess({ ...local, path }, { delegated: false, localReads: 'token' }).decision).toBe(
        'allow',
      );
  });
});
