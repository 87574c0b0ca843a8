import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podBody, startApiServer } from './api-server-harness.js';
import type { ApiAnswer, RunningApiServer } from './api-server-harness.js';

const API = '/api/v1/namespaces/shop';
const NODE_GROUPS = ['system:nodes', 'system:authenticated'];

describe('kubelets', () => {
  let server: RunningApiServer;
  const as =
    (token: string) =>
    (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
      server.call(method, path, body, {
        authorization: `Bearer ${token}`,
        ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }),
      });
  const n1 = as('token-of-n1');
  const told = ({ body, status }: ApiAnswer): string =>
    `${status} ${(body.message as string | undefined) ?? ''}`;

  beforeAll(async () => {
    server = await startApiServer({
      tls: true,
      users: [{ token: 'token-of-n1', username: 'system:node:n1', groups: NODE_GROUPS }],
    });
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await n1('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n2' } });
    for (const name of ['used', 'elsewhere', 'unused'])
      await server.call('POST', `${API}/secrets`, { metadata: { name }, stringData: { a: 'b' } });
    for (const [name, node, secret] of [
      ['here', 'n1', 'used'],
      ['there', 'n2', 'elsewhere'],
    ] as const) {
      const pod = podBody(name);
      const volumes = [{ name: 's', secret: { secretName: secret } }];
      await server.call('POST', `${API}/pods`, { ...pod, spec: { ...pod.spec, nodeName: node, volumes } });
    }
  });
  afterAll(() => server.stop());

  it('read what the pods on their nodes name, and nothing else', async () => {
    expect(told(await n1('GET', `${API}/secrets/used`))).toBe('200 ');
    const refusal =
      'User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "shop": no relationship found between node \'n1\' and this object';
    for (const name of ['elsewhere', 'unused'])
      expect(told(await n1('GET', `${API}/secrets/${name}`))).toBe(
        `403 secrets "${name}" is forbidden: ${refusal}`,
      );
    expect(told(await n1('GET', `${API}/secrets`))).toContain('No Object name found');
    expect(told(await n1('PUT', `${API}/secrets/used`, {}))).toContain(
      'can only read resources of this type',
    );
  });

  it('come to know a pod that is bound later, and forget one that is gone', async () => {
    await server.call('POST', `${API}/pods`, podBody('late'));
    expect(told(await n1('GET', `${API}/pods/late`))).toContain('no relationship found');
    const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
    await server.call('POST', `${API}/pods/late/binding`, { metadata: { name: 'late' }, target });
    await expect.poll(async () => (await n1('GET', `${API}/pods/late`)).status).toBe(200);
    await server.call('DELETE', `${API}/pods/late?gracePeriodSeconds=0`);
    await expect.poll(async () => (await n1('GET', `${API}/pods/late`)).status).toBe(403);
  });

  it('list the pods of their own nodes', async () => {
    const { body, status } = await n1('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1');
    const items = body.items as { metadata: { name: string } }[];
    expect([status, items.map(({ metadata }) => metadata.name)]).toEqual([200, ['here']]);
    for (const query of ['', '?fieldSelector=spec.nodeName%3Dn2', '?fieldSelector=spec.nodeName!%3Dn1'])
      expect(told(await n1('GET', `/api/v1/pods${query}`))).toContain(
        'can only list/watch pods with spec.nodeName field selector',
      );
  });

  it.each([
    [
      'PATCH',
      '/api/v1/nodes/n2',
      { spec: { unschedulable: true } },
      'node "n1" is not allowed to modify node "n2"',
    ],
    ['PATCH', '/api/v1/nodes/n1', { spec: { taints: null } }, 'node "n1" is not allowed to modify taints'],
    [
      'PATCH',
      '/api/v1/nodes/n1',
      {
        metadata: {
          labels: { 'node-role.kubernetes.io/x': '', 'topology.kubernetes.io/zone': 'a', mine: 'b' },
        },
      },
      'is not allowed to modify labels: node-role.kubernetes.io/x',
    ],
    ['GET', '/api/v1/nodes/n2', undefined, "node 'n1' cannot read 'n2', only its own Node object"],
    ['POST', `${API}/pods`, podBody('new'), 'pod does not have "kubernetes.io/config.mirror" annotation'],
    [
      'DELETE',
      `${API}/pods/there`,
      undefined,
      'node "n1" can only delete pods with spec.nodeName set to itself',
    ],
    [
      'PATCH',
      `${API}/pods/there/status`,
      { status: { phase: 'Failed' } },
      'node "n1" can only update pod status for pods with spec.nodeName set to itself',
    ],
    [
      'POST',
      `${API}/serviceaccounts/default/token`,
      { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'here', uid: 'x' } } },
      'the UID in the bound object reference (x) does not match the UID in record',
    ],
    [
      'POST',
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
      { metadata: { name: 'n2' } },
      'can only access node lease with the same name as the requesting node',
    ],
  ])('are refused: %s %s %j', async (method, path, body, problem) => {
    const answer = told(await n1(method, path, body));
    expect(answer).toMatch(/^403 /);
    expect(answer).toContain(problem);
  });

  it('reach no pod of another node by the other ways to its status, and change nothing but the status of their own', async () => {
    const applied = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'there' },
      status: { phase: 'Failed' },
    };
    const there = (await server.call('GET', `${API}/pods/there`)).body as object;
    const headers = { authorization: 'Bearer token-of-n1' };
    const onlyOwn = 'node "n1" can only update pod status for pods with spec.nodeName set to itself';
    const refused = [
      await server.call('PATCH', `${API}/pods/there/status?fieldManager=n&force=true`, applied, {
        ...headers,
        'content-type': 'application/apply-patch+yaml',
      }),
      await server.call('PATCH', `${API}/pods/there/status`, applied, {
        ...headers,
        'content-type': 'application/strategic-merge-patch+json',
      }),
      // As if it were a pod of its own.
      await n1('PUT', `${API}/pods/there/status`, { ...there, spec: { nodeName: 'n1', containers: [] } }),
    ];
    for (const answer of refused) expect(told(answer)).toContain(onlyOwn);
    expect(
      told(await n1('PATCH', `${API}/pods/here/status`, { metadata: { labels: { app: 'other' } } })),
    ).toContain('cannot update labels through pod status');
    await n1('PATCH', `${API}/pods/here/status`, {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] },
      spec: { nodeName: 'n2', serviceAccountName: 'other' },
    });
    const { body } = await server.call('GET', `${API}/pods/here`);
    expect([body.metadata.ownerReferences, body.metadata.labels, body.spec.nodeName]).toEqual([
      undefined,
      (podBody('here').metadata as { labels?: object }).labels,
      'n1',
    ]);
  });

  it('keep up their own node, its Lease, and the status of the pods on it', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const answers = [
      await n1('PATCH', '/api/v1/nodes/n1', { metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } } }),
      await n1('PATCH', '/api/v1/nodes/n1/status', { status: { phase: 'Running' } }),
      await n1('POST', leases, { metadata: { name: 'n1' } }),
      await n1('PATCH', `${API}/pods/here/status`, { status: { phase: 'Running' } }),
    ];
    expect(answers.map(told)).toEqual(['200 ', '200 ', '201 ', '200 ']);
  });

  it('have their rights when others ask about them, too', async () => {
    const ask = async (name: string): Promise<unknown> => {
      const { body } = await server.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec: {
          user: 'system:node:n1',
          groups: NODE_GROUPS,
          resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'shop', name },
        },
      });
      return (body.status as { allowed: boolean }).allowed;
    };
    expect([await ask('used'), await ask('unused')]).toEqual([true, false]);
  });
});
