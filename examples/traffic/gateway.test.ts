import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, Pod, Service, SystemClock, isConditionTrue, silentLogger } from 'rollkeeper';
import type { ApiClient, Condition, DeepReadonly } from 'rollkeeper';
import type { TestCluster } from 'rollkeeper/testing';
import { startTestCluster } from 'rollkeeper/testing';
import { EvenSpread } from './gateway/choose-backend.ts';
import type { HTTPRoute as Route, RouteRule } from './gateway/gateway-api.ts';
import { Gateway, HTTPRoute } from './gateway/gateway-api.ts';
import { Traffic } from './traffic.ts';

const REF = { namespace: 'default', name: 'web' };
const REQUESTS = 1000;

/** A Deployment of 2 pods behind a Service of the same name. */
const versionOf = (name: string, image: string) => {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...REF, name },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...REF, name },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
};
const backend = (name: string, weight?: number) => ({ name, port: 80, weight });
const BOTH = (weights: readonly [number, number]): RouteRule => ({
  backendRefs: [backend('web-old', weights[0]), backend('web-new', weights[1])],
});

describe('the small gateway', () => {
  let cluster: TestCluster;
  let client: ApiClient;
  let traffic: Traffic;
  /** The requests that the pods got, by image; copies too. */
  const received: string[] = [];
  const usedOnce = new WeakSet<object>();

  beforeAll(async () => {
    const gateway = { metadata: REF, spec: { gatewayClassName: 'small', listeners: [] as unknown[] } };
    gateway.spec.listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
    const apiVersion = 'gateway.networking.k8s.io/v1';
    cluster = await startTestCluster({
      manifests: [
        { file: `${import.meta.dirname}/definitions` },
        {
          apiVersion,
          kind: 'GatewayClass',
          metadata: { name: 'small' },
          spec: { controllerName: 'example.com/small-gateway' },
        },
        { apiVersion, kind: 'Gateway', ...gateway },
        ...versionOf('web-old', 'web:1'),
        ...versionOf('web-new', 'web:2'),
        {
          apiVersion,
          kind: 'HTTPRoute',
          metadata: REF,
          spec: { parentRefs: [{ name: 'web' }], rules: [BOTH([100, 0])] },
        },
      ],
    });
    ({ client } = cluster);
    traffic = await Traffic.start({
      client,
      clock: new SystemClock(),
      random: new EvenSpread(),
      logger: silentLogger,
      graceMs: 50,
      answer: (pod, request, response) => {
        const image = pod.spec.containers[0]?.image ?? '';
        received.push(`${image} ${request.url}`);
        if (request.url === '/closes' && usedOnce.has(request.socket)) return void request.socket.destroy();
        usedOnce.add(request.socket);
        response.writeHead(200, { 'x-image': image }).end();
      },
    });
    await cluster.waitFor<Deployment>('deployment/web-old', 'rollout');
    await cluster.waitFor<Deployment>('deployment/web-new', 'rollout');
  });
  afterAll(async () => {
    await traffic?.stop();
    await cluster?.stop();
  });
  beforeEach(() => edit([BOTH([100, 0])]));

  const conditions = (route: DeepReadonly<Route> | undefined): readonly Condition[] | undefined =>
    route?.status?.parents[0]?.conditions;
  const isSeen = (route: DeepReadonly<Route> | undefined): boolean =>
    conditions(route)?.every(({ observedGeneration }) => observedGeneration === route?.metadata.generation) ??
    false;

  /** Writes the rules as `kubectl patch` does, and waits until the gateway says that it has seen them. */
  async function edit(rules: readonly RouteRule[]): Promise<void> {
    await client.patch(HTTPRoute, REF, { type: 'merge', body: { spec: { rules } } });
    await cluster.waitFor<Route>('httproute/web', isSeen);
  }

  it('moves the requests with the weights that are written to the route', async () => {
    for (const weights of [
      [100, 0],
      [95, 5],
      [50, 50],
      [0, 100],
      [100, 0],
    ] as const) {
      await edit([BOTH(weights)]);
      const tally = await traffic.load.burst(REQUESTS);
      expect(tally.failures).toEqual({});
      expect(Math.abs(tally.shareOf('web:2') - weights[1] / 100), String(weights)).toBeLessThan(0.01);
    }
  });

  it('writes the conditions that the specification wants of an implementation', async () => {
    await cluster.waitFor<Gateway>('gateway/web', (gateway) =>
      isConditionTrue(gateway?.status?.conditions, 'Programmed'),
    );
    const gateway = await client.get(Gateway, REF);
    expect(gateway.status).toMatchObject({
      addresses: [{ value: '127.0.0.1' }],
      listeners: [{ name: 'http', attachedRoutes: 1 }],
    });
    const route = await client.get(HTTPRoute, REF);
    expect(route.status?.parents).toMatchObject([
      { controllerName: 'example.com/small-gateway', parentRef: { name: 'web' } },
    ]);
    expect(conditions(route)?.map(({ status, type }) => [type, status])).toEqual([
      ['Accepted', 'True'],
      ['ResolvedRefs', 'True'],
    ]);
  });

  it('sends requests with a header or a cookie to the rule that names it', async () => {
    const to = (rule: object): RouteRule => ({ backendRefs: [backend('web-new')], ...rule });
    const cookie = {
      name: 'cookie',
      type: 'RegularExpression',
      value: '(.*; )?canary=always(;.*)?',
    } as const;
    await edit([
      BOTH([100, 0]),
      to({ matches: [{ headers: [{ name: 'x-canary', value: 'always' }] }, { headers: [cookie] }] }),
    ]);
    const answeredBy = async (headers: Record<string, string>): Promise<string | null> =>
      (await fetch(`http://127.0.0.1:${traffic.gateway.port}/`, { headers })).headers.get('x-image');
    expect(await answeredBy({})).toBe('web:1');
    expect(await answeredBy({ 'x-canary': 'always' })).toBe('web:2');
    expect(await answeredBy({ cookie: 'a=b; canary=always' })).toBe('web:2');
  });

  it('copies a share of the requests, and answers with the backend that was chosen', async () => {
    const requestMirror = { backendRef: backend('web-new'), percent: 10 };
    await edit([{ ...BOTH([100, 0]), filters: [{ type: 'RequestMirror', requestMirror }] }]);
    received.length = 0;
    const tally = await traffic.load.burst(REQUESTS);
    expect(tally.byImage).toEqual({ 'web:1': REQUESTS });
    await cluster.settled();
    const copies = received.filter((each) => each === 'web:2 /').length;
    expect(Math.abs(copies / REQUESTS - 0.1)).toBeLessThan(0.01);
  });

  it('never hides that a backend has no pod, no weight or no Service', async () => {
    const service = { ...REF, name: 'empty' };
    await client.create(Service, {
      ...{ apiVersion: 'v1', kind: 'Service' },
      metadata: service,
      spec: { selector: { app: 'nothing' }, ports: [{ port: 80 }] },
    });
    const failuresOf = async (rule: RouteRule) => {
      await edit([rule]);
      const { answered, failures } = await traffic.load.burst(20);
      return [answered > 0, ...Object.keys(failures)];
    };
    expect(await failuresOf({ backendRefs: [backend('empty')] })).toEqual([
      false,
      '503 empty has no ready endpoint',
    ]);
    expect(await failuresOf(BOTH([0, 0]))).toEqual([false, '500 no backend has a weight']);
    expect(await failuresOf({ backendRefs: [backend('web-old'), backend('missing')] })).toEqual([
      true,
      '500 Service missing does not exist',
    ]);
    expect(conditions(await client.get(HTTPRoute, REF))?.[1]).toMatchObject({
      type: 'ResolvedRefs',
      status: 'False',
      reason: 'BackendNotFound',
    });
  });

  it('goes on with the state that it accepted last while it refuses a route, and while it is away', async () => {
    const write = (rule: RouteRule) =>
      client.patch<Route>(HTTPRoute, REF, { type: 'merge', body: { spec: { rules: [rule] } } });
    const shareOfNew = async () => (await traffic.load.burst(100)).shareOf('web:2');
    traffic.gateway.refuse('default/web', { reason: 'UnsupportedValue', message: 'not here' });
    await write(BOTH([0, 100]));
    const refused = await cluster.waitFor<Route>(
      'httproute/web',
      (route) => isSeen(route) && !isConditionTrue(conditions(route), 'Accepted'),
    );
    expect(conditions(refused)?.[0]).toMatchObject({ reason: 'UnsupportedValue', message: 'not here' });
    expect(await shareOfNew()).toBe(0);
    traffic.gateway.accept('default/web');
    await cluster.waitFor<Route>('httproute/web', (route) => isConditionTrue(conditions(route), 'Accepted'));
    expect(await shareOfNew()).toBe(1);

    await traffic.gateway.goAway();
    const { metadata } = await write(BOTH([100, 0]));
    await cluster.settled();
    expect(isSeen(await client.get(HTTPRoute, REF))).toBe(false);
    expect(await shareOfNew()).toBe(1);
    await traffic.gateway.comeBack();
    await cluster.waitFor<Route>('httproute/web', isSeen);
    expect((await client.get(HTTPRoute, REF)).metadata.generation).toBe(metadata.generation);
    expect(await shareOfNew()).toBe(0);
  });

  it('sends a request again that met a connection which the pod had just closed', async () => {
    await traffic.load.burst(200);
    for (let request = 0; request < 10; request++) {
      const { status } = await fetch(`http://127.0.0.1:${traffic.gateway.port}/closes`);
      expect(status).toBe(200);
    }
    expect(received.filter((each) => each.endsWith('/closes')).length).toBeGreaterThan(10);
  });

  it('loses no request where pods are deleted, a version rolls out, and a node dies unnoticed', async () => {
    traffic.load.start();
    const tally = traffic.load.count();
    const [pod] = await cluster.list<Pod>('pods');
    await client.delete(Pod, pod?.metadata ?? REF);
    const body = { spec: { template: { metadata: { annotations: { again: 'yes' } } } } };
    await client.patch(Deployment, { ...REF, name: 'web-old' }, { type: 'merge', body });
    await cluster.waitFor<Deployment>('deployment/web-old', 'rollout');
    await cluster.settled();
    const [lost] = await cluster.list<Pod>('pods');
    await traffic.pods.killNode(lost?.spec.nodeName ?? '');
    expect((await traffic.load.burst(REQUESTS)).failures).toEqual({});
    expect(tally.failures).toEqual({});
    expect(tally.answered).toBeGreaterThan(0);
  });
});
