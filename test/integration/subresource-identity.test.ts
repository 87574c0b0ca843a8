import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const CORE = '/api/v1/namespaces/default';
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/web';
const MERGE = { 'content-type': 'application/merge-patch+json' };

const OTHER_NAMESPACE =
  'the namespace of the provided object does not match the namespace sent on the request';
const otherName = (name: string): string =>
  `the name of the object (other) does not match the name on the URL (${name})`;

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer();
  const made = async (path: string, object: object): Promise<void> => {
    const { body, status } = await api.call('POST', path, object);
    expect(status, JSON.stringify(body)).toBe(201);
  };
  const containers = [{ name: 'c', image: 'i' }];
  for (const name of ['p', 'other']) {
    await made(`${CORE}/pods`, { metadata: { name }, spec: { containers } });
    await made(`${CORE}/serviceaccounts`, { metadata: { name } });
  }
  await made('/api/v1/namespaces', { metadata: { name: 'team' } });
  await made(DEPLOYMENT.replace('/web', ''), {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
    },
  });
});
afterAll(() => api.stop());

/**
 * The path of each request, its other fields, its own name, and the refusals of another name, of no name and of
 * another namespace.
 */
const CASES: [method: string, path: string, fields: Body, refusals: (string | undefined)[]][] = [
  ['POST', `${CORE}/pods/p/binding`, { target: { kind: 'Node', name: 'n' } }, [
    'name in URL does not match name in Binding object',
    'name in URL does not match name in Binding object',
    OTHER_NAMESPACE,
  ]],
  ['POST', `${CORE}/pods/p/eviction`, {}, [
    'name in URL does not match name in Eviction object',
    'name in URL does not match name in Eviction object',
    OTHER_NAMESPACE,
  ]],
  ['POST', `${CORE}/serviceaccounts/p/token`, { spec: {} }, [
    'TokenRequest.authentication.k8s.io "p" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
    undefined,
    OTHER_NAMESPACE,
  ]],
  ['PUT', `${DEPLOYMENT}/scale`, { spec: { replicas: 7 } }, [otherName('web'), undefined, OTHER_NAMESPACE]],
  ['PATCH', `${DEPLOYMENT}/scale`, { spec: { replicas: 7 } }, [
    otherName('web'),
    'the name of the object (web based on URL) was undeterminable: name must be provided',
    OTHER_NAMESPACE,
  ]],
  ['PATCH', `${DEPLOYMENT}/status`, {}, [
    otherName('web'),
    'the name of the object (web based on URL) was undeterminable: name must be provided',
    OTHER_NAMESPACE,
  ]],
  ['PUT', `${CORE}/pods/p/status`, {}, [otherName('p'), undefined, OTHER_NAMESPACE]],
  ['PUT', '/api/v1/namespaces/team/finalize', {}, [otherName('team'), undefined, undefined]],
]; // prettier-ignore

describe('The object that is sent to a subresource', () => {
  it.each(CASES)('names no other object: %s %s', async (method, path, fields, refusals) => {
    const name = path.split('/').at(-2)!;
    const isPatch = method === 'PATCH';
    const bodies = [{ name: 'other' }, isPatch ? { name: null } : {}, { name, namespace: 'team' }];
    for (const [index, metadata] of bodies.entries()) {
      const refusal = refusals[index];
      if (refusal === undefined) continue;
      const sent = { ...fields, metadata };
      const { body, status } = await api.call(method, `${path}?dryRun=All`, sent, isPatch ? MERGE : {});
      expect({ message: body.message, status }).toEqual({
        message: refusal,
        status: refusal.includes('is invalid') ? 422 : 400,
      });
    }
  });

  it.each([
    ['POST', `${CORE}/pods/p/binding`, 'v1', 'Binding', {}],
    ['POST', `${CORE}/pods/p/eviction`, 'policy/v1', 'Eviction', {}],
    ['POST', `${CORE}/serviceaccounts/p/token`, 'authentication.k8s.io/v1', 'TokenRequest', {}],
    ['PUT', `${DEPLOYMENT}/scale`, 'autoscaling/v1', 'Scale', {}],
    ['PATCH', `${DEPLOYMENT}/scale`, 'autoscaling/v1', 'Scale', MERGE],
  ])('is of no other type: %s %s takes a %s %s', async (method, path, apiVersion, kind, headers) => {
    const metadata = { name: path.split('/').at(-2)! };
    for (const [wrong, refusal] of [
      [{ apiVersion: 'apps/v1', kind }, `no kind "${kind}" is registered for version "apps/v1" in scheme`],
      [{ apiVersion, kind: 'Pod' }, 'Pod'],
    ] as const) {
      const sent = { ...wrong, metadata, spec: { replicas: 7 }, target: { name: 'n' } };
      const { body, status } = await api.call(method, `${path}?dryRun=All`, sent, headers);
      expect(body.message).toContain(refusal);
      expect(status).toBe(method === 'PATCH' && body.reason === 'Invalid' ? 422 : 400);
    }
  }); // prettier-ignore

  it('may be an eviction of the version before', async () => {
    const sent = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } };
    expect((await api.call('POST', `${CORE}/pods/p/eviction?dryRun=All`, sent)).status).toBe(201);
  });

  it('asks for a token without a name, for itself', async () => {
    const { body, status } = await api.call('POST', `${CORE}/serviceaccounts/p/token`, { spec: {} });
    expect([status, body.metadata.name]).toEqual([201, 'p']);
  });

  it('has changed nothing', async () => {
    expect((await api.call('GET', DEPLOYMENT)).body.spec.replicas).toBe(1);
    expect((await api.call('GET', `${CORE}/pods`)).body.items).toHaveLength(2);
  });
});

describe('The addresses of a load balancer', () => {
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.9', ipMode: 'VIP' }] } };

  it.each(['ClusterIP', 'NodePort', 'ExternalName'])('are refused for a %s Service', async (type) => {
    const name = type.toLowerCase();
    const spec =
      type === 'ExternalName' ? { type, externalName: 'a.example' } : { type, ports: [{ port: 80 }] };
    const made = await api.call('POST', `${CORE}/services`, { metadata: { name }, spec, status });
    expect([made.status, made.body.status?.loadBalancer?.ingress]).toEqual([201, undefined]);
    const path = `${CORE}/services/${name}/status`;
    for (const [method, body, headers] of [
      ['PATCH', { status }, MERGE],
      ['PUT', { ...made.body, status }, {}],
    ] as const) {
      const answer = await api.call(method, path, body, headers);
      expect(answer.status).toBe(422);
      expect(answer.body.message).toBe(
        `Service "${name}" is invalid: status.loadBalancer.ingress: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`,
      );
    }
    const conditions = { status: { conditions: [] } };
    expect((await api.call('PATCH', path, conditions, MERGE)).status).toBe(200);
  });

  it('are taken for a LoadBalancer Service', async () => {
    const spec = { type: 'LoadBalancer', ports: [{ port: 80 }] };
    await api.call('POST', `${CORE}/services`, { metadata: { name: 'lb' }, spec });
    const { body } = await api.call('PATCH', `${CORE}/services/lb/status`, { status }, MERGE);
    expect(body).toMatchObject({ status });
  });
});
