import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import { MemoryStorage } from '../../src/apiserver/index.js';
import type { Storage } from '../../src/apiserver/index.js';
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
  const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/view';
  const MADE_AT_START = [ROLE, '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical'];
  const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const DENIES_ALL = [
    [
      POLICIES,
      {
        metadata: { name: 'deny' },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
          },
          validations: [{ expression: 'false', message: 'not today' }],
        },
      },
    ],
    [
      `${POLICIES.slice(0, -3)}ybindings`,
      { metadata: { name: 'deny' }, spec: { policyName: 'deny', validationActions: ['Deny'] } },
    ],
  ] as const;
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

  it('keep no server from starting where a policy refuses all writes, and name it once the policy is gone', async () => {
    const clock = new FakeClock(new SystemClock().now());
    const before = await startApiServer({ interfaces: INTERFACES, clock });
    for (const path of MADE_AT_START) expect((await before.call('DELETE', path)).status).toBe(200);
    for (const [path, object] of DENIES_ALL)
      expect((await before.call('POST', path, object)).status).toBe(201);
    const denied = await before.call('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'a' },
    });
    expect(denied.body.message).toContain('not today');
    await before.stop();

    const storage = await copyOf(before.storage, new MemoryStorage({ clock }));
    const api = await startApiServer({ interfaces: INTERFACES, clock, storage });
    try {
      for (const path of MADE_AT_START) expect((await api.call('GET', path)).status).toBe(404);
      expect((await api.call('DELETE', `${DENIES_ALL[1][0]}/deny`)).status).toBe(200);
      await clock.advance(10_000);
      const ports = async (): Promise<unknown> =>
        ((await api.call('GET', PATHS[0]!)).body.subsets as Body[]).flatMap(
          (subset) => subset.ports as Body[],
        );
      await expect.poll(ports).toMatchObject([{ port: Number(new URL(api.url).port) }]);
    } finally {
      await api.stop();
    }
  });
});

async function copyOf(source: Storage, target: Storage): Promise<Storage> {
  const { resources } = await source.resources();
  for (const resource of resources)
    for (const { object } of (await source.list(resource)).items) {
      const { name, namespace = '' } = object.metadata;
      await target.create({ resource, namespace, name }, object);
    }
  return target;
}
