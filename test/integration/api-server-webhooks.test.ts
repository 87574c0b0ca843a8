import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { createAuthority } from '../../src/tls/certificates.js';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';
import { startWebhookServer } from './support/webhook-server.js';
import type { WebhookServer } from './support/webhook-server.js';

const NOW = new SystemClock().now();
const GROUP = '/apis/admissionregistration.k8s.io/v1';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

type Answer = (
  request: Body,
  path: string,
) => object | { readonly raw: string; readonly code?: number } | undefined;

let api: RunningApiServer;
let hook: WebhookServer;
let address: string;
let caBundle: string;
let answer: Answer;
let asked: { readonly path: string; readonly request: Body }[];

/** The answer of webhooks unless a test sets another. */
const ALLOW: Answer = () => ({ allowed: true });

beforeAll(async () => {
  hook = await startWebhookServer(['hook.ops.svc'], ({ request }, path) => {
    asked.push({ path, request });
    const said = answer(request, path) as Body;
    if (said === undefined) return undefined;
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: request.uid, ...said },
    };
    return {
      code: said.code,
      ...(said.code === 302 && { location: `https://${address}/elsewhere` }),
      text: said.raw ?? JSON.stringify(review),
    };
  });
  ({ address, caBundle } = hook);
  asked = [];
  answer = ALLOW;
  api = await startApiServer({ webhookServices: { 'ops/hook': address } });
});

afterAll(async () => {
  await api.stop();
  await hook.stop();
});

afterEach(async () => {
  for (const resource of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'])
    await api.call('DELETE', `${GROUP}/${resource}`);
  await api.call('DELETE', CONFIG_MAPS);
  asked = [];
  answer = ALLOW;
});

async function configure(
  kind: 'Mutating' | 'Validating',
  ...webhooks: { name?: string; clientConfig?: object; [field: string]: unknown }[]
): Promise<void> {
  const { status, body } = await api.call('POST', `${GROUP}/${kind.toLowerCase()}webhookconfigurations`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: 'hooks' },
    webhooks: webhooks.map((webhook, index) => ({
      name: `hook-${index}.example.com`,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
      ...webhook,
      clientConfig: { url: `https://${address}/${index}`, caBundle, ...webhook.clientConfig },
    })),
  });
  expect(status, JSON.stringify(body)).toBe(201);
}

const create = (name: string, data: Record<string, string> = {}, query = '') =>
  api.call('POST', `${CONFIG_MAPS}${query}`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });

const patchOf = (...operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

describe('A mutating webhook', () => {
  it('sees the request and changes the object', async () => {
    await configure('Mutating', {});
    answer = () => ({
      ...patchOf({ op: 'add', path: '/data/added', value: 'yes' }),
      warnings: ['look here'],
    });
    const { body, headers, status } = await create('a', { own: 'yes' });
    expect(status).toBe(201);
    expect(body.data).toEqual({ own: 'yes', added: 'yes' });
    expect(headers.get('warning')).toMatch(/look here/);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      path: '/0?timeout=10s',
      request: {
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        name: 'a',
        namespace: 'default',
        operation: 'CREATE',
        userInfo: { username: 'admin' },
        object: { kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { own: 'yes' } },
        oldObject: null,
        dryRun: false,
      },
    });
  });

  it('is asked again when another one has changed the object after it, and wants to know', async () => {
    await configure('Mutating', { reinvocationPolicy: 'IfNeeded' }, {});
    answer = ({ object }, path) =>
      path.startsWith('/1')
        ? patchOf({ op: 'add', path: '/data/second', value: 'yes' })
        : patchOf({ op: 'add', path: '/data/seen', value: String(Object.keys(object.data).length) });
    const { body } = await create('a', { own: 'yes' });
    expect(asked.map(({ path }) => path[1])).toEqual(['0', '1', '0']);
    expect(body.data).toEqual({ own: 'yes', second: 'yes', seen: '3' });
  });

  it('makes no object that is invalid', async () => {
    await configure('Mutating', {});
    answer = () => patchOf({ op: 'add', path: '/data/not~1a~1key', value: 'x' });
    const { body, status } = await create('a', { own: 'yes' });
    expect(status).toBe(422);
    expect(body.message).toMatch(/data\[not\/a\/key\]/);
  });

  it('cannot change what is deleted, but may refuse it', async () => {
    await create('a');
    await configure('Mutating', {});
    answer = () => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message: 'it stays' } });
    const { body, status } = await api.call('DELETE', `${CONFIG_MAPS}/a`);
    expect(status).toBe(403);
    expect(body.message).toBe('admission webhook "hook-0.example.com" denied the request: it stays');
    expect(asked[0]?.request).toMatchObject({
      operation: 'DELETE',
      object: null,
      oldObject: { metadata: { name: 'a' } },
    });
  });
});

describe('The identity of an object', () => {
  const MISMATCH = 'the namespace of the provided object does not match the namespace sent on the request';
  const UID = '11111111-2222-3333-4444-555555555555';
  const set = (path: string, value: unknown) => () => patchOf({ op: 'add', path, value });

  it.each([
    ['/metadata/namespace', 'kube-system', 400, MISMATCH],
    ['/metadata/resourceVersion', '1', 500, 'resourceVersion should not be set on objects to be created'],
    [
      '/kind',
      'Nothing',
      500,
      'Internal error occurred: no kind "Nothing" is registered for version "v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
    ],
    ['/kind', 'Secret', 500, 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
    [
      '/apiVersion',
      'v2',
      500,
      'Internal error occurred: no kind "ConfigMap" is registered for version "v2" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
    ],
  ])('is no webhook’s to say for a new object: %s', async (path, value, code, message) => {
    await configure('Mutating', {});
    answer = set(path, value);
    const { body, status } = await create('a');
    expect(body).toMatchObject({ code, message });
    expect(status).toBe(code);
    const { items } = (await api.call('GET', '/api/v1/configmaps')).body;
    expect(items).toEqual([]);
  });

  it.each([
    ['uid', UID],
    ['creationTimestamp', '2001-01-01T00:00:00Z'],
    ['deletionTimestamp', '2001-01-01T00:00:00Z'],
    ['deletionGracePeriodSeconds', 5],
    ['selfLink', '/api/v1/namespaces/kube-system/configmaps/a'],
    ['managedFields', [{ manager: 'them', operation: 'Nothing' }]],
  ])('is the server’s to say for a new object: %s', async (field, value) => {
    await configure('Mutating', {});
    answer = set(`/metadata/${field}`, value);
    const { body, status } = await create('a');
    expect(status).toBe(201);
    expect(body.metadata[field]).not.toEqual(value);
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    // As in a genuine server, a webhook is asked before there is one.
    expect(asked[0]?.request.object.metadata).not.toHaveProperty('uid');
  });

  it('comes back when a webhook takes it away', async () => {
    await configure('Mutating', {});
    answer = () =>
      patchOf(
        { op: 'remove', path: '/metadata/namespace' },
        { op: 'remove', path: '/kind' },
        { op: 'remove', path: '/apiVersion' },
      );
    const { body, status } = await create('a');
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { namespace: 'default' } });
  });

  it.each([
    ['uid', UID, 422, `metadata.uid: Invalid value: "${UID}": field is immutable`],
    ['name', 'b', 422, 'metadata.name: Invalid value: "b": field is immutable'],
    [
      'deletionTimestamp',
      '2001-01-01T00:00:00Z',
      422,
      'metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
    ],
    ['namespace', 'kube-system', 400, MISMATCH],
    ['resourceVersion', '1', 409, 'the object has been modified'],
  ])('stays for an object that is there: %s', async (field, value, code, message) => {
    const before = (await create('a')).body;
    await configure('Mutating', {});
    answer = set(`/metadata/${field}`, value);
    const merge = { 'content-type': 'application/merge-patch+json' };
    const { body, status } = await api.call('PATCH', `${CONFIG_MAPS}/a`, { data: { new: 'yes' } }, merge);
    expect(body.message).toContain(message);
    expect(status).toBe(code);
    answer = ALLOW;
    expect((await api.call('GET', `${CONFIG_MAPS}/a`)).body).toEqual(before);
  });

  it.each([
    ['creationTimestamp', '2001-01-01T00:00:00Z'],
    ['generation', 77],
    ['selfLink', '/elsewhere'],
    ['uid', ''],
    ['resourceVersion', ''],
  ])('is not taken from a webhook for an object that is there: %s', async (field, value) => {
    const before = (await create('a')).body;
    await configure('Mutating', {});
    answer = set(`/metadata/${field}`, value);
    const merge = { 'content-type': 'application/merge-patch+json' };
    const { body, status } = await api.call('PATCH', `${CONFIG_MAPS}/a`, { data: { new: 'yes' } }, merge);
    expect(status, JSON.stringify(body)).toBe(200);
    const { managedFields: _before, resourceVersion: _old, ...kept } = before.metadata;
    expect(body.metadata).toMatchObject(kept);
    expect(body.metadata[field]).not.toEqual(value);
  });

  it('may be a name that a webhook gives to an object without one', async () => {
    await configure('Mutating', {});
    answer = set('/metadata/name', 'given');
    const { body, status } = await api.call('POST', CONFIG_MAPS, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { generateName: 'made-' },
    });
    expect(status).toBe(201);
    expect(body.metadata.name).toBe('given');
    expect((await api.call('GET', `${CONFIG_MAPS}/given`)).status).toBe(200);
  });
});

describe('A validating webhook', () => {
  it.each([
    [{}, 400, 'without explanation'],
    [{ status: { message: 'too loud' } }, 400, ': too loud'],
    [{ status: { code: 403, reason: 'Forbidden', message: 'not you' } }, 403, ': not you'],
  ])('refuses with %j', async (said, code, text) => {
    await configure('Validating', {});
    answer = () => ({ allowed: false, ...said });
    const { body, status } = await create('a');
    expect(status).toBe(code);
    expect(body.message).toMatch(/^admission webhook "hook-0.example.com" denied the request/);
    expect(body.message.endsWith(text)).toBe(true);
    expect((await api.call('GET', `${CONFIG_MAPS}/a`)).status).toBe(404);
  });

  it.each([
    [{ code: 99_999, message: 'odd' }, 500],
    [{ code: 1000 }, 500],
    [{ code: 999 }, 999],
    [{ code: -1 }, 400],
    [{ code: 204, reason: 'Success' }, 400],
    [{ code: 429, details: { retryAfterSeconds: -5 } }, 429],
    [{ code: 400, message: '\ud800' }, 400],
    [{ code: 400, kind: 'Secret', apiVersion: 'v1', metadata: {}, unknown: { deep: [1] } }, 400],
  ])('answers with a code that HTTP has, whatever is said: %j', async (status, code) => {
    await configure('Validating', {});
    answer = () => ({ allowed: false, status });
    const { body, status: answered } = await create('a');
    expect(answered).toBe(code);
    expect(body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code });
    expect(body.message).toMatch(/^admission webhook "hook-0.example.com" denied the request/);
    expect((await api.call('GET', '/readyz')).status).toBe(200);
  });

  it.each([
    ['array', [], 'Go struct field AdmissionResponse.response.status of type v1.Status'],
    ['string', 'x', 'Go struct field AdmissionResponse.response.status of type v1.Status'],
    ['number 1.5', { code: 1.5 }, 'Go struct field Status.response.status.code of type int32'],
    ['string', { code: '400' }, 'Go struct field Status.response.status.code of type int32'],
    ['array', { message: [] }, 'Go struct field Status.response.status.message of type string'],
    [
      'object',
      { reason: { toString: 5 } },
      'Go struct field Status.response.status.reason of type v1.StatusReason',
    ],
    [
      'string',
      { details: { causes: 'abc' } },
      'Go struct field StatusDetails.response.status.details.causes of type []v1.StatusCause',
    ],
    [
      'string',
      { details: { retryAfterSeconds: '1\r\nSet-Cookie: a' } },
      'Go struct field StatusDetails.response.status.details.retryAfterSeconds of type int32',
    ],
    [
      'number 1e+30',
      { details: { retryAfterSeconds: 1e30 } },
      'Go struct field StatusDetails.response.status.details.retryAfterSeconds of type int32',
    ],
  ])('has failed when its status holds an %s: %j', async (what, status, where) => {
    await configure('Validating', {});
    answer = () => ({ allowed: false, status });
    const { body, status: answered } = await create('a');
    expect(answered).toBe(500);
    expect(body.message).toBe(
      `Internal error occurred: failed calling webhook "hook-0.example.com": failed to call webhook: json: cannot unmarshal ${what} into ${where}`,
    );
  });

  it.each([
    [{ allowed: 'yes' }, 'AdmissionResponse.response.allowed of type bool'],
    [{ allowed: true, warnings: 'abc' }, 'AdmissionResponse.response.warnings of type []string'],
    [{ allowed: true, warnings: [{}] }, 'AdmissionResponse.response.warnings of type string'],
    [{ allowed: true, uid: 5 }, 'AdmissionResponse.response.uid of type string'],
    [
      { allowed: true, auditAnnotations: { a: 1 } },
      'AdmissionResponse.response.auditAnnotations of type string',
    ],
  ])('has failed when its response has a value of a wrong type: %j', async (said, where) => {
    await configure('Validating', {});
    answer = () => said;
    const { body, status } = await create('a');
    expect(status).toBe(500);
    expect(body.message).toMatch(
      /failed to call webhook: json: cannot unmarshal \w+( 1)? into Go struct field /,
    );
    expect(body.message.endsWith(where)).toBe(true);
  });

  it('cannot break the headers with its warnings', async () => {
    await configure('Validating', {});
    answer = () => ({ allowed: true, warnings: ['a\r\nSet-Cookie: b', '\ud800', 'ünd "so"'] });
    const { headers, status } = await create('a');
    expect(status).toBe(201);
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('warning')).not.toContain('Set-Cookie');
  });

  it('sees what the mutating ones made of it, in a dry run as well', async () => {
    await configure('Mutating', {});
    await configure('Validating', { clientConfig: { url: `https://${address}/judge` } });
    answer = ({ object }, path) =>
      path.startsWith('/judge')
        ? { allowed: object.data.added !== 'yes' }
        : patchOf({ op: 'add', path: '/data/added', value: 'yes' });
    const { status } = await create('a', { own: 'yes' }, '?dryRun=All');
    expect(status).toBe(400);
    expect(asked[1]?.request).toMatchObject({ dryRun: true });
  });

  it('is found by the name of its Service', async () => {
    const service = { namespace: 'ops', name: 'hook', path: '/by-name' };
    await configure('Validating', { clientConfig: { url: undefined, service } });
    expect((await create('a')).status).toBe(201);
    expect(asked[0]?.path).toBe('/by-name?timeout=10s');
  });

  it('is asked about what its rules and selectors say alone', async () => {
    await configure(
      'Validating',
      { objectSelector: { matchLabels: { watched: 'yes' } } },
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } } },
      { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['*'] }] },
    );
    expect((await create('a')).status).toBe(201);
    expect(asked).toEqual([]);
    await api.call('DELETE', `${CONFIG_MAPS}/a`);
    expect(asked.map(({ path }) => path[1])).toEqual(['2']);
  });
});

describe('Match conditions', () => {
  const matching = (expression: string, more: object = {}) => ({
    matchConditions: [{ name: 'c', expression }],
    ...more,
  });

  it('spare a webhook the requests that do not meet them', async () => {
    await configure(
      'Validating',
      matching("request.userInfo.username != 'admin'"),
      matching('has(object.data)'),
    );
    expect((await create('a', { own: 'yes' })).status).toBe(201);
    expect(asked.map(({ path }) => path[1])).toEqual(['1']);
  });

  it('refuse the request if they cannot be judged, unless the webhook may fail', async () => {
    await configure('Validating', matching('object.nowhere == 1'));
    const { body, status } = await create('a');
    expect(status).toBe(403);
    expect(body.message).toMatch(/is forbidden: expression 'object.nowhere == 1' resulted in error/);
    await api.call('DELETE', `${GROUP}/validatingwebhookconfigurations/hooks`);
    await configure('Validating', matching('object.nowhere == 1', { failurePolicy: 'Ignore' }));
    expect((await create('a')).status).toBe(201);
    expect(asked).toEqual([]);
  });
});

describe('A webhook that fails', () => {
  const broken: [string, Answer, RegExp][] = [
    ['redirects', () => ({ code: 302, raw: '' }), /the server responded with the status code 302/],
    ['breaks', () => ({ code: 500, raw: 'oops' }), /an error on the server \("oops"\) has prevented/],
    [
      'answers with something else',
      () => ({ raw: '{}' }),
      /received invalid webhook response: webhook response was absent$/,
    ],
    [
      'answers another question',
      () => ({ uid: 'other', allowed: true }),
      /expected response.uid=".*", got "other"$/,
    ],
    [
      'answers without end',
      () => ({ raw: ' '.repeat(4_000_000) }),
      /the answer has more than 3145728 bytes$/,
    ],
  ];

  it.each(broken)(
    'because it %s refuses everything, unless it is to be ignored',
    async (_name, said, problem) => {
      await configure('Validating', {});
      answer = said;
      const { body, status } = await create('a');
      expect(status).toBe(500);
      expect(body.message).toMatch(/^Internal error occurred: failed calling webhook "hook-0.example.com": /);
      expect(body.message).toMatch(problem);
      expect(asked.some(({ path }) => path.startsWith('/elsewhere'))).toBe(false);
      await api.call('DELETE', `${GROUP}/validatingwebhookconfigurations/hooks`);
      await configure('Validating', { failurePolicy: 'Ignore' });
      expect((await create('a')).status).toBe(201);
    },
  );

  it('because it does not answer is given up after its timeout', async () => {
    await configure('Validating', { timeoutSeconds: 1 });
    answer = () => undefined;
    expect((await create('a')).body.message).toMatch(
      /failed to call webhook: Post "https:\/\/127.0.0.1:\d+\/0\?timeout=1s": context deadline exceeded$/,
    );
  });

  it('because nobody listens, or because somebody else does', async () => {
    await configure('Validating', { clientConfig: { url: 'https://127.0.0.1:1/' } });
    expect((await create('a')).body.message).toMatch(
      /failed to call webhook: Post "https:\/\/127.0.0.1:1\/\?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused$/,
    );
    await api.call('DELETE', `${GROUP}/validatingwebhookconfigurations/hooks`);
    const stranger = await createAuthority(NOW);
    await configure('Validating', {
      clientConfig: { caBundle: Buffer.from(stranger.pem.cert).toString('base64') },
    });
    expect((await create('a')).body.message).toMatch(/x509: certificate signed by unknown authority$/);
    expect(asked).toEqual([]);
  });

  it('because its Service leads nowhere', async () => {
    const service = { namespace: 'ops', name: 'missing' };
    await configure('Validating', { clientConfig: { url: undefined, service } });
    expect((await create('a')).body.message).toMatch(
      /failed to call webhook: Post "https:\/\/missing.ops.svc:443\/\?timeout=10s": service "missing" not found$/,
    );
  });
});
