import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';
import { startWebhookServer } from './support/webhook-server.js';
import type { WebhookServer } from './support/webhook-server.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

let api: RunningApiServer;
let hook: WebhookServer;
let asked: Body[] = [];
let answer: (request: Body) => Body;
/** Requests for admission, and the answer to them. */
let admitted: Body[] = [];
let admit: (request: Body) => Body;
let count = 0;
let group: string;

/** `v1` has a host and a port, `v2` has both in one field. */
function convert(object: Body, apiVersion: string): Body {
  const { host, hostPort = '', port } = object.spec;
  const [name, number] = hostPort.split(':');
  const spec = apiVersion.endsWith('/v2')
    ? { hostPort: `${host}:${port}`, unknown: true }
    : { host: name, port: number, unknown: true };
  return { ...object, apiVersion, spec };
}

const CONVERT = ({ desiredAPIVersion, objects }: Body): Body => ({
  convertedObjects: objects.map((object: Body) => convert(object, desiredAPIVersion)),
  result: { status: 'Success' },
});

/** Converts, and changes the metadata of every object on the way. */
const withMetadata = (change: object) => (request: Body) => ({
  ...CONVERT(request),
  convertedObjects: CONVERT(request).convertedObjects.map((object: Body) => ({
    ...object,
    metadata: { ...object.metadata, ...change },
  })),
});

beforeAll(async () => {
  hook = await startWebhookServer(['convert.ops.svc'], ({ apiVersion, kind, request }, path) => {
    if (path.startsWith('/admit')) {
      admitted.push(request);
      return {
        text: JSON.stringify({ apiVersion, kind, response: { uid: request.uid, ...admit(request) } }),
      };
    }
    asked.push(request);
    return { text: JSON.stringify({ apiVersion, kind, response: { uid: request.uid, ...answer(request) } }) };
  });
  api = await startApiServer({ webhookServices: { 'ops/convert': hook.address } });
});

afterEach(() => {
  asked = [];
  admitted = [];
  answer = CONVERT;
});

afterAll(async () => {
  await api.stop();
  await hook.stop();
});

const versionOf = (name: string, storage: boolean, fields: readonly string[]) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
        },
      },
    },
  },
});

const versions = (stored: 'v1' | 'v2') => [
  versionOf('v1', stored === 'v1', ['host', 'port']),
  versionOf('v2', stored === 'v2', ['hostPort']),
];

/** Defines routes in a group of their own, so that no test meets the objects of another. */
async function serve(clientConfig: object = {}): Promise<void> {
  group = `g${++count}.example.com`;
  answer = CONVERT;
  const { body, status } = await api.call('POST', DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `routes.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'routes', kind: 'Route' },
      versions: versions('v1'),
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: {
            service: { namespace: 'ops', name: 'convert', path: '/convert' },
            caBundle: hook.caBundle,
            ...clientConfig,
          },
        },
      },
    },
  });
  expect(status, JSON.stringify(body)).toBe(201);
}

const routes = (version: string) => `/apis/${group}/${version}/namespaces/default/routes`;

const create = (name: string, metadata: object = {}) =>
  api.call('POST', routes('v1'), {
    apiVersion: `${group}/v1`,
    kind: 'Route',
    metadata: { name, ...metadata },
    spec: { host: name, port: '80' },
  });

/** As it is in the store. */
async function stored(name: string): Promise<Body> {
  return (await api.storage.get({ resource: `routes.${group}`, namespace: 'default', name }))?.object;
}

/** The changes since `version`, as a watch shows them that ends by itself. */
async function watched(version: string, since: string): Promise<Body[]> {
  const { text } = await api.call(
    'GET',
    `${routes(version)}?watch=true&timeoutSeconds=1&resourceVersion=${since}`,
  );
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('an object whose versions a webhook converts', () => {
  beforeAll(() => serve());

  it('is read in every served version, without what the version does not have', async () => {
    await create('a');
    expect(asked).toEqual([]);
    const { body } = await api.call('GET', `${routes('v2')}/a`);
    expect(body).toMatchObject({ apiVersion: `${group}/v2`, kind: 'Route', spec: { hostPort: 'a:80' } });
    expect(body.spec).not.toHaveProperty('unknown');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      desiredAPIVersion: `${group}/v2`,
      objects: [{ metadata: { name: 'a' } }],
    });
  });

  it('is created, patched, applied and deleted in a version that is not stored', async () => {
    const made = await api.call('POST', routes('v2'), {
      apiVersion: `${group}/v2`,
      kind: 'Route',
      metadata: { name: 'b' },
      spec: { hostPort: 'b:1' },
    });
    expect([made.status, made.body.spec]).toEqual([201, { hostPort: 'b:1' }]);
    expect(await stored('b')).toMatchObject({ apiVersion: `${group}/v1`, spec: { host: 'b', port: '1' } });

    const patched = await api.call('PATCH', `${routes('v2')}/b`, { spec: { hostPort: 'b:2' } }, MERGE);
    expect([patched.status, patched.body.spec]).toEqual([200, { hostPort: 'b:2' }]);
    expect(await stored('b')).toMatchObject({ spec: { host: 'b', port: '2' } });

    const applied = await api.call(
      'PATCH',
      `${routes('v2')}/b?fieldManager=me&force=true`,
      { apiVersion: `${group}/v2`, kind: 'Route', metadata: { name: 'b' }, spec: { hostPort: 'b:3' } },
      APPLY,
    );
    expect([applied.status, applied.body.spec]).toEqual([200, { hostPort: 'b:3' }]);
    expect(await stored('b')).toMatchObject({ spec: { host: 'b', port: '3' } });

    expect((await api.call('DELETE', `${routes('v2')}/b`)).status).toBe(200);
    expect(await stored('b')).toBeUndefined();
  });

  it('costs a list one request for all, and none in the version that is stored', async () => {
    await serve();
    for (const name of ['a', 'b', 'c']) await create(name);
    const { body } = await api.call('GET', routes('v2'));
    expect(body.items.map(({ spec }: Body) => spec.hostPort)).toEqual(['a:80', 'b:80', 'c:80']);
    expect(asked).toHaveLength(1);
    await api.call('GET', routes('v1'));
    expect(asked).toHaveLength(1);
  });

  it('is watched in every version, and watchers share what the webhook says', async () => {
    await serve();
    const { body } = await api.call('GET', routes('v1'));
    const since: string = body.metadata.resourceVersion;
    await create('a');
    await api.call('PATCH', `${routes('v1')}/a`, { spec: { port: '81' } }, MERGE);
    const [one, other] = await Promise.all([watched('v2', since), watched('v2', since)]);
    expect(one).toEqual(other);
    expect(one.map(({ object, type }) => [type, object.apiVersion, object.spec.hostPort])).toEqual([
      ['ADDED', `${group}/v2`, 'a:80'],
      ['MODIFIED', `${group}/v2`, 'a:81'],
    ]);
    expect(asked).toHaveLength(1);
  });

  it('moves to another version of the store when it is written again', async () => {
    await serve();
    await create('a');
    await create('b');
    const definition = `${DEFINITIONS}/routes.${group}`;
    const changed = await api.call('PATCH', definition, { spec: { versions: versions('v2') } }, MERGE);
    expect(changed.body.status.storedVersions).toEqual(['v1', 'v2']);
    await api.call('PATCH', `${routes('v1')}/a`, { spec: { port: '81' } }, MERGE);
    expect(await stored('a')).toMatchObject({ apiVersion: `${group}/v2`, spec: { hostPort: 'a:81' } });
    expect(await stored('b')).toMatchObject({ apiVersion: `${group}/v1` });
    asked = [];
    const { body } = await api.call('GET', routes('v2'));
    expect(body.items.map(({ spec }: Body) => spec.hostPort)).toEqual(['a:81', 'b:80']);
    expect(asked.map(({ objects }) => objects.length)).toEqual([1]);
  });
});

describe('a conversion', () => {
  beforeAll(() => serve());

  it('may change labels and annotations, and nothing else of the metadata', async () => {
    await create('labelled', { labels: { a: '1', b: '2' }, finalizers: ['example.com/keep'] });
    answer = withMetadata({ labels: { a: '3' }, annotations: { c: '4' }, generation: 77, finalizers: [] });
    const { body } = await api.call('GET', `${routes('v2')}/labelled`);
    expect(body.metadata).toMatchObject({
      labels: { a: '3' },
      annotations: { c: '4' },
      generation: 1,
      finalizers: ['example.com/keep'],
    });
    expect(body.metadata.labels).not.toHaveProperty('b');
  });

  it.each([
    ['fails', () => ({ result: { status: 'Failed', message: 'no such thing' } }), 'failed: no such thing'],
    [
      'gives a result of a wrong type',
      (request) => ({ ...CONVERT(request), result: 'Success' }),
      'failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.result of type v1.Status',
    ],
    [
      'gives a code of a wrong type',
      (request) => ({ ...CONVERT(request), result: { status: 'Failed', code: 'x' } }),
      'failed: json: cannot unmarshal string into Go struct field Status.response.result.code of type int32',
    ],
    [
      'gives no list of objects',
      () => ({ convertedObjects: {}, result: { status: 'Success' } }),
      'failed: json: cannot unmarshal object into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension',
    ],
    [
      'fails without a word',
      () => ({ result: { status: 'Failed' } }),
      "failed: response.result.status was 'Failed', not 'Success'",
    ],
    [
      'loses an object',
      () => ({ convertedObjects: [], result: { status: 'Success' } }),
      'returned 0 objects, expected 1',
    ],
    [
      'leaves the version',
      ({ objects }: Body) => ({ convertedObjects: objects, result: { status: 'Success' } }),
      'returned invalid object at index 0: invalid groupVersion (expected GROUP/v2, received GROUP/v1)',
    ],
    [
      'gives another name',
      withMetadata({ name: 'other' }),
      'returned invalid object: must have the same name: refused != other',
    ],
    [
      'makes a label of a number',
      withMetadata({ labels: { a: 1 } }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
    [
      'answers something else',
      () => ({ uid: 'x', result: { status: 'Success' } }),
      'failed: expected response.uid=UID, got "x"',
    ],
  ])('is refused in the words of a genuine server if it %s', async (_case, wrong, problem) => {
    await create('refused');
    answer = wrong;
    const { body, status } = await api.call('GET', `${routes('v2')}/refused`);
    expect(status).toBe(500);
    const told = problem.replaceAll('GROUP', group).replace('UID', JSON.stringify(asked.at(-1).uid));
    expect(body.message).toBe(`conversion webhook for ${group}/v1, Kind=Route ${told}`);
    expect((await api.call('GET', `${routes('v1')}/refused`)).status).toBe(200);
  });

  it('has failed if it nests deeper than a document may, and nothing of it is kept', async () => {
    await create('deep');
    let nested: object = {};
    for (let depth = 0; depth < 600; depth++) nested = { nested };
    answer = (request) => ({
      ...CONVERT(request),
      convertedObjects: CONVERT(request).convertedObjects.map((object: Body) => ({ ...object, nested })),
    });
    const failed = /^conversion webhook for .*, Kind=Route failed: .*exceeded max depth of 500$/;
    const read = await api.call('GET', `${routes('v2')}/deep`);
    expect([read.status, read.body.message]).toEqual([500, expect.stringMatching(failed)]);
    const labels = { metadata: { labels: { a: 'b' } } };
    expect((await api.call('PATCH', `${routes('v2')}/deep`, labels, MERGE)).status).toBe(500);
    expect((await api.call('GET', `${routes('v1')}/deep`)).body.metadata.labels).toBeUndefined();
  });

  it('says where it should have been if it cannot be asked, and writes nothing', async () => {
    await serve({ caBundle: undefined });
    const { body, status } = await api.call('POST', routes('v2'), {
      apiVersion: `${group}/v2`,
      kind: 'Route',
      metadata: { name: 'a' },
      spec: { hostPort: 'a:1' },
    });
    expect(status).toBe(500);
    expect(body.message).toBe(
      `conversion webhook for ${group}/v2, Kind=Route failed: Post "https://convert.ops.svc:443/convert?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    );
    expect(await stored('a')).toBeUndefined();
  });
});

describe('a webhook of admission that knows one version', () => {
  const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
  const configure = async (type: 'Mutating' | 'Validating', more: object = {}) => {
    const { body, status } = await api.call(
      'POST',
      `${CONFIGURATIONS}/${type.toLowerCase()}webhookconfigurations`,
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: `${type}WebhookConfiguration`,
        metadata: { name: 'hooks' },
        webhooks: [
          {
            name: 'admit.example.com',
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            rules: [{ apiGroups: [group], apiVersions: ['v2'], operations: ['*'], resources: ['routes'] }],
            clientConfig: {
              service: { namespace: 'ops', name: 'convert', path: '/admit' },
              caBundle: hook.caBundle,
            },
            ...more,
          },
        ],
      },
    );
    expect(status, JSON.stringify(body)).toBe(201);
  };

  beforeAll(() => serve());
  afterEach(async () => {
    for (const type of ['mutating', 'validating'])
      await api.call('DELETE', `${CONFIGURATIONS}/${type}webhookconfigurations`);
  });

  it('sees requests of the others as well, converted, and says so', async () => {
    await configure('Validating');
    admit = () => ({ allowed: true });
    expect((await create('seen')).status).toBe(201);
    const kind = { group, kind: 'Route' };
    const resource = { group, resource: 'routes' };
    expect(admitted).toMatchObject([
      {
        kind: { ...kind, version: 'v2' },
        resource: { ...resource, version: 'v2' },
        requestKind: { ...kind, version: 'v1' },
        requestResource: { ...resource, version: 'v1' },
        object: { apiVersion: `${group}/v2`, spec: { hostPort: 'seen:80' } },
        oldObject: null,
      },
    ]);
    expect(admitted[0].object.spec).not.toHaveProperty('unknown');
  });

  it('changes the form that it has seen', async () => {
    await configure('Mutating');
    const patch = [
      { op: 'replace', path: '/spec/hostPort', value: 'moved:81' },
      { op: 'add', path: '/metadata/labels', value: { by: 'hook' } },
    ];
    admit = () => ({
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    });
    expect((await create('changed')).body).toMatchObject({
      apiVersion: `${group}/v1`,
      metadata: { name: 'changed', labels: { by: 'hook' } },
      spec: { host: 'moved', port: '81' },
    });
  });

  it('is not asked about the others when it wants them exact', async () => {
    await configure('Validating', { matchPolicy: 'Exact' });
    expect((await create('exact')).status).toBe(201);
    expect(admitted).toEqual([]);
  });

  it('is not asked when the conversion fails', async () => {
    await configure('Validating');
    answer = () => ({ result: { status: 'Failure', message: 'no way' }, convertedObjects: [] });
    const { body, status } = await create('stuck');
    expect(status).toBe(500);
    expect(body.message).toContain('no way');
    expect(admitted).toEqual([]);
  });

  it('has policies as its like: expressions ask about the version that the policy is for', async () => {
    const policies = `${CONFIGURATIONS}/validatingadmissionpolicies`;
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const metadata = { name: 'ports' };
    await api.call('POST', policies, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [group], apiVersions: ['v2'], operations: ['*'], resources: ['routes'] },
          ],
        },
        validations: [
          {
            expression: "!object.spec.hostPort.endsWith(':80')",
            messageExpression: "request.requestKind.version + ' as ' + request.kind.version",
          },
        ],
      },
    });
    await api.call('POST', `${policies.replace('policies', 'policybindings')}`, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: 'ports', validationActions: ['Deny'] },
    });
    const { body, status } = await create('judged');
    await api.call('DELETE', `${policies.replace('policies', 'policybindings')}/ports`);
    expect(status).toBe(422);
    expect(body.message).toMatch(/with binding 'ports' denied request: v1 as v2$/);
  });
});
