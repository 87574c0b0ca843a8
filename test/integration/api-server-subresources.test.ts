import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';
import { startWebhookServer } from './support/webhook-server.js';
import type { WebhookServer } from './support/webhook-server.js';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const CORE = '/api/v1/namespaces/default';
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/web';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const DENIED = 'DENIED-BY-POLICY';

let api: RunningApiServer;
let hook: WebhookServer;
let asked: Body[] = [];

/** Everything there is but the policies themselves. */
const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }];

beforeAll(async () => {
  hook = await startWebhookServer(['hook.ops.svc'], ({ apiVersion, kind, request }, path) => {
    asked.push({ ...request, path });
    // The validating one says no.
    const allowed = !path.startsWith('/Validating');
    const response = { uid: request.uid, allowed, status: { message: DENIED } };
    return { text: JSON.stringify({ apiVersion, kind, response }) };
  });
  api = await startApiServer({ users: [{ token: 'viewers-token', username: 'viewer' }] });
  const made = async (path: string, object: object): Promise<void> => {
    const { body, status } = await api.call('POST', path, object);
    expect(status, JSON.stringify(body)).toBe(201);
  };
  const containers = [{ name: 'c', image: 'i' }];
  await made(`${CORE}/pods`, { metadata: { name: 'p' }, spec: { containers } });
  await made(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } });
  await made('/api/v1/namespaces', { metadata: { name: 'team' } });
  await made(DEPLOYMENT.replace('/web', ''), {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
    },
  });
});
afterAll(async () => {
  await api.stop();
  await hook.stop();
});

/** Each subresource that is served and written to, what it is sent, and what admission is asked. */
const CASES: [string, string, string, Body, object][] = [
  [
    'PATCH',
    `${DEPLOYMENT}/scale`,
    'autoscaling/v1 Scale UPDATE UpdateOptions',
    { spec: { replicas: 3 } },
    { object: { spec: { replicas: 3 } }, oldObject: { kind: 'Scale', spec: { replicas: 1 } } },
  ],
  [
    'PATCH',
    `${DEPLOYMENT}/status`,
    'apps/v1 Deployment UPDATE UpdateOptions',
    { status: { replicas: 3 } },
    { object: { status: { replicas: 3 } } },
  ],
  ['PATCH', `${CORE}/pods/p/status`, 'v1 Pod UPDATE UpdateOptions', { status: { message: 'x' } }, {}],
  [
    'POST',
    `${CORE}/pods/p/binding`,
    'v1 Binding CREATE CreateOptions',
    { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } },
    { object: { target: { name: 'n' } }, oldObject: null },
  ],
  [
    'POST',
    `${CORE}/pods/p/eviction`,
    'policy/v1 Eviction CREATE CreateOptions',
    { metadata: { name: 'p' } },
    { object: { metadata: { name: 'p', namespace: 'default' } } },
  ],
  [
    'POST',
    `${CORE}/serviceaccounts/robot/token`,
    'authentication.k8s.io/v1 TokenRequest CREATE CreateOptions',
    { spec: {} },
    { object: { spec: { expirationSeconds: 3600 } } },
  ],
  [
    'POST',
    `${CORE}/pods/p/exec?command=id&command=-u&stdout=1&container=c`,
    'v1 PodExecOptions CONNECT',
    undefined,
    { object: { command: ['id', '-u'], stdout: true, container: 'c' }, oldObject: null, options: null },
  ],
  [
    'GET',
    `${CORE}/pods/p/attach?stdin=1`,
    'v1 PodAttachOptions CONNECT',
    undefined,
    { object: { stdin: true } },
  ],
  [
    'POST',
    `${CORE}/pods/p/portforward?ports=80`,
    'v1 PodPortForwardOptions CONNECT',
    undefined,
    { object: { ports: [80] } },
  ],
  [
    'PUT',
    '/api/v1/namespaces/team/finalize',
    'v1 Namespace UPDATE UpdateOptions',
    { metadata: { name: 'team' } },
    {},
  ],
];

describe('The right to a connection', () => {
  it.each(['exec', 'attach', 'portforward'])('and not create one, may not %s', async (subresource) => {
    const RBAC = '/apis/rbac.authorization.k8s.io/v1';
    await api.call('POST', `${RBAC}/clusterroles`, {
      metadata: { name: 'get-all' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get'] }],
    });
    await api.call('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'get-all' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'get-all' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    });
    const { body, status } = await api.call('GET', `${CORE}/pods/p/${subresource}?command=id`, undefined, {
      authorization: 'Bearer viewers-token',
    });
    expect(status).toBe(403);
    expect(body.message).toContain(`cannot create resource "pods/${subresource}"`);
  });
});

describe('Admission is asked about', () => {
  afterAll(async () => {
    for (const resource of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])
      await api.call('DELETE', `${GROUP}/${resource}`);
  });

  it.each(CASES)('%s %s, by webhooks of both sorts: %s', async (method, path, what, sent, seen) => {
    for (const sort of ['Mutating', 'Validating'])
      await api.call('POST', `${GROUP}/${sort.toLowerCase()}webhookconfigurations`, {
        metadata: { name: 'hooks' },
        webhooks: [
          {
            name: 'a.example.com',
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            rules,
            clientConfig: { url: `https://${hook.address}/${sort}`, caBundle: hook.caBundle },
          },
        ],
      });
    asked = [];
    const headers = method === 'PATCH' ? MERGE : {};
    const { body } = await api.call(method, path, sent, headers);
    expect(body.message).toContain(DENIED);
    const [kind, version, name] = [asked[0]?.kind, asked[0]?.kind.version, asked[0]?.kind.kind];
    const options = asked[0]?.options?.kind;
    expect(
      [`${kind.group === '' ? '' : `${kind.group}/`}${version}`, name, asked[0]?.operation, options]
        .filter(Boolean)
        .join(' '),
    ).toBe(what);
    const paths = asked.map((request) => request.path.split('?')[0]);
    expect([...new Set(paths)]).toEqual(['/Mutating', '/Validating']);
    const subResource = path.split('?')[0]!.split('/').at(-1);
    for (const request of asked) expect(request).toMatchObject({ subResource, ...seen });
  });
});

describe('A policy', () => {
  it.each(CASES)('denies %s %s', async (method, path, _what, sent) => {
    await api.call('POST', `${GROUP}/validatingadmissionpolicies`, {
      metadata: { name: 'deny' },
      spec: {
        matchConstraints: { resourceRules: rules },
        validations: [{ expression: 'false', message: DENIED }],
      },
    });
    await api.call('POST', `${GROUP}/validatingadmissionpolicybindings`, {
      metadata: { name: 'deny' },
      spec: { policyName: 'deny', validationActions: ['Deny'] },
    });
    const { body } = await api.call(method, path, sent, method === 'PATCH' ? MERGE : {});
    expect(body.message).toContain(DENIED);
  });

  it('has not been got round', async () => {
    expect((await api.call('GET', `${CORE}/pods/p`)).body.spec).not.toHaveProperty('nodeName');
    expect((await api.call('GET', DEPLOYMENT)).body.spec.replicas).toBe(1);
    await api.call('DELETE', `${GROUP}/validatingadmissionpolicybindings/deny`);
  });
});
