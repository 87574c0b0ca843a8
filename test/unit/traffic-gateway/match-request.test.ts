import { describe, expect, it } from 'vitest';
import { durationMs } from '../../../examples/traffic/gateway/duration.ts';
import type { HTTPRoute, RouteMatch } from '../../../examples/traffic/gateway/gateway-api.ts';
import type { SeenRequest } from '../../../examples/traffic/gateway/match-request.ts';
import { inOrderOfPrecedence, matches } from '../../../examples/traffic/gateway/match-request.ts';

interface Written {
  readonly name?: string;
  readonly created?: string;
  readonly hostnames?: readonly string[];
  /** The matches of each rule; the rule is named by the backend with its number. */
  readonly rules: readonly (readonly RouteMatch[])[];
}

function routeOf({ created = '2026-01-01T00:00:00Z', hostnames, name = 'web', rules }: Written): HTTPRoute {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name, namespace: 'shop', creationTimestamp: created },
    spec: {
      hostnames,
      rules: rules.map((each, index) => ({ matches: each, backendRefs: [{ name: `${name}-${index}` }] })),
    },
  };
}

interface Asked extends Partial<Omit<SeenRequest, 'query'>> {
  readonly query?: string;
}

/** The backend of the rule that answers a request. */
function answers(routes: readonly Written[], { query, ...asked }: Asked): string | undefined {
  const request = { method: 'GET', host: 'shop.example.com', path: '/', headers: {}, ...asked };
  const seen = { ...request, query: new URLSearchParams(query) };
  const found = inOrderOfPrecedence(routes.map(routeOf)).find((candidate) => matches(candidate, seen));
  return found?.rule.backendRefs?.[0]?.name;
}

const header = (name: string, value: string, type?: 'RegularExpression'): RouteMatch => ({
  headers: [{ name, value, type }],
});
const path = (value: string, type?: 'Exact' | 'RegularExpression'): RouteMatch => ({ path: { value, type } });

describe('a rule of a route', () => {
  const CANARY = [{ rules: [[], [header('X-Canary', 'always')]] }];

  it('answers the requests with its header, whatever the case of the name, before the rule without', () => {
    expect(answers(CANARY, { headers: { 'x-canary': 'always' } })).toBe('web-1');
    expect(answers(CANARY, { headers: { 'x-canary': 'never' } })).toBe('web-0');
    expect(answers(CANARY, {})).toBe('web-0');
  });

  it('finds a cookie among others by a regular expression of the header Cookie', () => {
    const routes = [
      { rules: [[], [header('Cookie', '(?:.*;\\s*)?canary=always(?:;.*)?', 'RegularExpression')]] },
    ];
    expect(answers(routes, { headers: { cookie: 'a=b; canary=always; c=d' } })).toBe('web-1');
    expect(answers(routes, { headers: { cookie: 'canary=always' } })).toBe('web-1');
    expect(answers(routes, { headers: { cookie: 'notcanary=always' } })).toBe('web-0');
  });

  it('matches a regular expression with the whole value, and one that is wrong with none', () => {
    const routes = [
      { rules: [[header('x', 'a+', 'RegularExpression')], [header('y', '(', 'RegularExpression')]] },
    ];
    expect(answers(routes, { headers: { x: 'aaa' } })).toBe('web-0');
    expect(answers(routes, { headers: { x: 'aaab' } })).toBeUndefined();
    expect(answers(routes, { headers: { y: '(' } })).toBeUndefined();
  });

  it('needs all that one match asks for, and one of several matches', () => {
    const both = { ...header('x', '1'), method: 'POST' };
    const routes = [{ rules: [[both, path('/other', 'Exact')]] }];
    expect(answers(routes, { headers: { x: '1' } })).toBeUndefined();
    expect(answers(routes, { headers: { x: '1' }, method: 'POST' })).toBe('web-0');
    expect(answers(routes, { path: '/other' })).toBe('web-0');
  });

  it('takes prefixes of whole parts of a path', () => {
    const routes = [{ rules: [[path('/app')]] }];
    expect(['/app', '/app/', '/app/a', '/apple', '/'].map((each) => answers(routes, { path: each }))).toEqual(
      ['web-0', 'web-0', 'web-0', undefined, undefined],
    );
  });

  it('goes before others by the exact path, the longer prefix, a method, more headers and more parameters', () => {
    const rules = [
      [path('/')],
      [path('/app')],
      [path('/app', 'Exact')],
      [{ ...path('/app'), method: 'GET' }],
      [{ ...path('/app'), ...header('x', '1') }],
      [{ ...path('/app'), queryParams: [{ name: 'q', value: '1' }] }],
      [path('/app/.*', 'RegularExpression')],
    ];
    const ask = (asked: Asked): string | undefined => answers([{ rules }], asked);
    expect(ask({ path: '/app' })).toBe('web-2');
    expect(ask({ path: '/app/a' })).toBe('web-3');
    expect(ask({ path: '/app/a', method: 'PUT', headers: { x: '1' }, query: 'q=1' })).toBe('web-4');
    expect(ask({ path: '/app/a', method: 'PUT', query: 'q=1' })).toBe('web-5');
    expect(ask({ path: '/app/a', method: 'PUT' })).toBe('web-1');
    expect(ask({ path: '/b' })).toBe('web-0');
  });

  it('goes first if its route is the oldest, then by the first name, then as the first rule', () => {
    const young = { name: 'a', created: '2026-02-01T00:00:00Z', rules: [[]] };
    const old = { name: 'c', rules: [[], []] };
    const other = { name: 'b', rules: [[]] };
    expect(answers([young, old], {})).toBe('c-0');
    expect(answers([old, other, young], {})).toBe('b-0');
  });

  it('is for the hosts of its route only', () => {
    const routes = [{ hostnames: ['shop.example.com', '*.shop.example.org'], rules: [[]] }];
    expect(answers(routes, {})).toBe('web-0');
    expect(answers(routes, { host: 'a.shop.example.org' })).toBe('web-0');
    expect(answers(routes, { host: 'shop.example.org' })).toBeUndefined();
  });
});

describe('a duration of the Gateway API', () => {
  it.each([
    ['10s', 10_000],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
    ['250ms', 250],
    ['0s', undefined],
    [undefined, undefined],
  ])('%s is %s milliseconds', (text, expected) => {
    expect(durationMs(text)).toBe(expected);
  });
});
