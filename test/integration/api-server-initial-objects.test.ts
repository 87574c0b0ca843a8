import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

const list = async (path: string): Promise<readonly Body[]> =>
  (await server.call('GET', `/apis/${path}`)).body.items as Body[];
const names = (items: readonly Body[]): readonly string[] =>
  items.map(({ metadata }) => metadata.name as string);

describe('a new server has', () => {
  it('the network of its Services', async () => {
    const [network, ...others] = await list('networking.k8s.io/v1/servicecidrs');
    expect([network.metadata.name, network.spec.cidrs[0], others]).toEqual([
      'kubernetes',
      '10.96.0.0/12',
      [],
    ]);
  });

  it('the flow schemas and priority levels of a genuine server', async () => {
    const levels = names(await list('flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations'));
    expect(levels).toEqual([
      ...['catch-all', 'exempt', 'global-default', 'leader-election'],
      ...['node-high', 'system', 'workload-high', 'workload-low'],
    ]);
    const schemas = await list('flowcontrol.apiserver.k8s.io/v1/flowschemas');
    expect(schemas).toHaveLength(11);
    for (const { spec } of schemas) expect(levels).toContain(spec.priorityLevelConfiguration.name);
  });

  it('an APIService for each version of a built-in group, and it is available', async () => {
    const services = await list('apiregistration.k8s.io/v1/apiservices');
    const { body } = await server.call('GET', '/apis');
    const served = (body.groups as Body[])
      .flatMap(({ versions }) => versions as Body[])
      .map(({ groupVersion }) => (groupVersion as string).split('/').reverse().join('.'))
      .filter((name) => !/apiregistration|metrics/.test(name));
    expect(names(services)).toEqual(['v1.', ...served].sort());
    expect(services.every(({ status }) => status.conditions[0].status === 'True')).toBe(true);
  });
});

describe('the endpoints of the kubernetes Service', () => {
  const PATHS = [
    '/api/v1/namespaces/default/endpoints/kubernetes',
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes',
  ];
  const INTERFACES = {
    eth0: [
      { address: '192.0.2.7', family: 'IPv4' as const, internal: false, netmask: '', mac: '', cidr: null },
    ],
  };

  it('name the server by an address of its machine, and come back when they are deleted or changed', async () => {
    const clock = new FakeClock(new SystemClock().now());
    const api = await startApiServer({ interfaces: INTERFACES, clock });
    try {
      const { port } = new URL(api.url);
      const named = async (): Promise<Body[]> => {
        const [endpoints, slice] = await Promise.all(PATHS.map((path) => api.call('GET', path)));
        return [
          endpoints?.body?.subsets?.[0],
          slice?.body?.endpoints?.[0]?.addresses,
          slice?.body?.ports?.[0]?.port,
        ];
      };
      const expected = [
        { addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'https', port: Number(port), protocol: 'TCP' }] },
        ['192.0.2.7'],
        Number(port),
      ];
      expect(await named()).toEqual(expected);
      for (const path of PATHS) expect((await api.call('DELETE', path)).status).toBe(200);
      expect((await named())[0]).toBeUndefined();
      await clock.advance(10_000);
      await expect.poll(named).toEqual(expected);
      const { body } = await api.call('GET', PATHS[0]!);
      await api.call('PUT', PATHS[0]!, { ...body, subsets: [] });
      await clock.advance(10_000);
      await expect.poll(async () => (await named())[0]).toEqual(expected[0]);
    } finally {
      await api.stop();
    }
  });
});
