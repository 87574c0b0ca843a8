import { describe, expect, it } from 'vitest';
import { attach } from '../../../examples/traffic/gateway/attach-route.ts';
import { changeResponseHeaders } from '../../../examples/traffic/gateway/change-headers.ts';
import type { Gateway, HTTPRoute, ParentRef } from '../../../examples/traffic/gateway/gateway-api.ts';
import { resolveBackend } from '../../../examples/traffic/gateway/resolve-backends.ts';
import { gatewayStatus, routeStatus } from '../../../examples/traffic/gateway/route-status.ts';
import { FakeClock } from '../../../src/machinery/clock/index.js';

const API = 'gateway.networking.k8s.io/v1';
const OURS = 'example.com/small-gateway';

const GATEWAY: Gateway = {
  apiVersion: API,
  kind: 'Gateway',
  metadata: { name: 'edge', namespace: 'shop', generation: 2 },
  spec: {
    gatewayClassName: 'small',
    listeners: [
      { name: 'http', port: 80, protocol: 'HTTP' },
      { name: 'org', port: 81, protocol: 'HTTP', hostname: '*.example.org' },
    ],
  },
};

function routeTo(
  parentRef: Partial<ParentRef>,
  rest: Partial<HTTPRoute['spec']> = {},
  namespace = 'shop',
): HTTPRoute {
  return {
    apiVersion: API,
    kind: 'HTTPRoute',
    metadata: { name: 'web', namespace, generation: 5 },
    spec: { parentRefs: [{ name: 'edge', ...parentRef }], ...rest },
  };
}

const reasonOf = (route: HTTPRoute): string | undefined => attach(route, [GATEWAY])[0]?.problem?.reason;

describe('a route that names a Gateway', () => {
  it('is attached to its listeners, or to the one that it names', () => {
    const names = (parent: Partial<ParentRef>): unknown =>
      attach(routeTo(parent), [GATEWAY]).map(({ listeners }) => listeners.map(({ name }) => name));
    expect(names({})).toEqual([['http', 'org']]);
    expect(names({ sectionName: 'org' })).toEqual([['org']]);
    expect(names({ port: 80 })).toEqual([['http']]);
  });

  it('belongs to others where no Gateway of ours has the name', () => {
    expect(attach(routeTo({ name: 'other' }), [GATEWAY])).toEqual([]);
    expect(attach(routeTo({ kind: 'Service' }), [GATEWAY])).toEqual([]);
    expect(attach(routeTo({}, {}, 'else'), [GATEWAY])).toEqual([]);
  });

  it('is refused with the reason of the specification', () => {
    expect(reasonOf(routeTo({ sectionName: 'https' }))).toBe('NoMatchingParent');
    expect(reasonOf(routeTo({ namespace: 'shop' }, {}, 'else'))).toBe('NotAllowedByListeners');
    expect(reasonOf(routeTo({ sectionName: 'org' }, { hostnames: ['a.example.com'] }))).toBe(
      'NoMatchingListenerHostname',
    );
    expect(reasonOf(routeTo({ sectionName: 'org' }, { hostnames: ['a.example.org'] }))).toBeUndefined();
  });
});

describe('the status of a route', () => {
  const clock = new FakeClock();
  const writer = { controllerName: OURS, clock };
  const theirs = { parentRef: { name: 'mesh' }, controllerName: 'example.com/mesh', conditions: [] };

  it('names the generation that was seen, and leaves the entries of other implementations', () => {
    const route = { ...routeTo({}), status: { parents: [theirs] } };
    const { parents } = routeStatus(route, attach(route, [GATEWAY]), undefined, writer);
    expect(parents[0]).toBe(theirs);
    expect(parents[1]).toMatchObject({
      parentRef: { name: 'edge' },
      controllerName: OURS,
      conditions: [
        { type: 'Accepted', status: 'True', reason: 'Accepted', observedGeneration: 5 },
        { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs', observedGeneration: 5 },
      ],
    });
  });

  it('keeps the time of a condition that stays as it is', async () => {
    const route = routeTo({});
    const first = routeStatus(route, attach(route, [GATEWAY]), undefined, writer);
    await clock.advance(60_000);
    const again = { ...route, status: first };
    expect(routeStatus(again, attach(route, [GATEWAY]), undefined, writer)).toEqual(first);
    const problem = { reason: 'BackendNotFound', message: 'Service web does not exist' };
    const broken = routeStatus(again, attach(route, [GATEWAY]), problem, writer).parents[0]?.conditions;
    expect(broken?.[0]).toEqual(first.parents[0]?.conditions[0]);
    expect(broken?.[1]).toMatchObject({ ...problem, status: 'False' });
    expect(broken?.[1]?.lastTransitionTime).not.toBe(first.parents[0]?.conditions[1]?.lastTransitionTime);
  });

  it('counts, for a Gateway, the routes of each listener, and says if nothing is programmed', () => {
    const attached = (_: Gateway, listener: string): number => (listener === 'http' ? 3 : 0);
    const state = { address: '127.0.0.1', attached };
    const good = gatewayStatus(GATEWAY, state, writer);
    expect(good.addresses).toEqual([{ type: 'IPAddress', value: '127.0.0.1' }]);
    expect(good.listeners?.map(({ attachedRoutes }) => attachedRoutes)).toEqual([3, 0]);
    const problem = { reason: 'NoResources', message: 'no machine' };
    const bad = gatewayStatus(GATEWAY, { ...state, problem }, writer);
    expect(bad.addresses).toEqual([]);
    expect(bad.conditions).toMatchObject([
      { type: 'Accepted', status: 'True', observedGeneration: 2 },
      { type: 'Programmed', status: 'False', reason: 'NoResources' },
    ]);
  });
});

describe('a backend', () => {
  const service = (key: string) =>
    key === 'shop/web'
      ? {
          apiVersion: 'v1',
          kind: 'Service' as const,
          metadata: { name: 'web' },
          spec: { ports: [{ name: 'http', port: 80 }] },
        }
      : undefined;
  const pod = (name: string, ready?: boolean) => ({
    addresses: ['10.0.0.1'],
    conditions: { ready },
    targetRef: { kind: 'Pod', namespace: 'shop', name },
  });
  const slice = {
    ...{
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'web-1', namespace: 'shop' },
    },
    ports: [
      { name: 'metrics', port: 9090 },
      { name: 'http', port: 8080 },
    ],
    endpoints: [pod('a', true), pod('b', false), pod('c')],
  };
  const resolve = (ref: object) =>
    resolveBackend(routeTo({}), { name: 'web', port: 80, ...ref }, { service, slices: () => [slice] });

  it('has the ready pods of its Service, at the port of that name', () => {
    expect(resolve({})).toEqual({
      endpoints: [
        { pod: 'shop/a', address: '10.0.0.1', port: 8080 },
        { pod: 'shop/c', address: '10.0.0.1', port: 8080 },
      ],
    });
  });

  it('has the reason of the specification if it cannot be used', () => {
    expect(resolve({ name: 'other' }).problem?.reason).toBe('BackendNotFound');
    expect(resolve({ port: 81 }).problem?.reason).toBe('BackendNotFound');
    expect(resolve({ kind: 'Bucket' }).problem?.reason).toBe('InvalidKind');
    expect(resolve({ namespace: 'else' }).problem?.reason).toBe('RefNotPermitted');
  });
});

describe('header filters', () => {
  it('set, add and remove fields in the order of the filters', () => {
    const filters = [
      {
        type: 'ResponseHeaderModifier' as const,
        responseHeaderModifier: { set: [{ name: 'X-A', value: '2' }], remove: ['x-b'] },
      },
      {
        type: 'ResponseHeaderModifier' as const,
        responseHeaderModifier: { add: [{ name: 'set-cookie', value: 'v=2' }] },
      },
    ];
    expect(changeResponseHeaders({ 'x-a': '1', 'x-b': '1', 'set-cookie': ['u=1'] }, filters)).toEqual({
      'x-a': '2',
      'set-cookie': ['u=1', 'v=2'],
    });
  });
});
