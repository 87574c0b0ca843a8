import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeProtobuf } from '../../src/apiserver/http/protobuf/decode-protobuf.js';
import { createKindRegistry, createSchemaRegistry } from '../../src/apiserver/index.js';
import { ProtobufAnswers } from '../../src/apiserver/http/protobuf/protobuf-answers.js';
import { TOKEN, startApiServer } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const MAPS = '/api/v1/namespaces/default/configmaps';
const PARTIAL = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const PARTIAL_LIST = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const schemas = createSchemaRegistry();
const answers = new ProtobufAnswers(createKindRegistry(), schemas);
let api: RunningApiServer;

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly bytes: Buffer;
}

async function send(
  method: string,
  path: string,
  accept: string,
  body?: string | Buffer,
  type?: string,
): Promise<Answer> {
  const response = await fetch(api.url + path, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, accept, ...(type && { 'content-type': type }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  const { headers, status } = response;
  return { status, type: headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) };
}

const read = ({ bytes }: Pick<Answer, 'bytes'>, schema: string) =>
  decodeProtobuf(bytes, { schemas, schema: `io.k8s.${schema}` });
const CONFIG_MAP = 'api.core.v1.ConfigMap';

beforeAll(async () => {
  api = await startApiServer({ users: [{ token: 'viewers-token', username: 'viewer' }] });
  await api.call('POST', MAPS, { metadata: { name: 'a', labels: { l: 'v' } }, data: { k: 'v' } });
  await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  });
  await api.call('POST', '/apis/example.com/v1/namespaces/default/things', {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 't' },
  });
});
afterAll(() => api.stop());

describe('a client that asks for protobuf', () => {
  it.each([PROTOBUF, `${PROTOBUF},application/json`, `application/cbor,${PROTOBUF}`])(
    'gets objects as messages: %s',
    async (accept) => {
      const answer = await send('GET', `${MAPS}/a`, accept);
      expect([answer.status, answer.type]).toEqual([200, PROTOBUF]);
      const json = (await api.call('GET', `${MAPS}/a`)).body;
      expect(read(answer, CONFIG_MAP)).toEqual(json);
    },
  );

  it('gets lists, their pages, and refusals', async () => {
    const { body } = await api.call('GET', MAPS);
    const list = await send('GET', MAPS, PROTOBUF);
    expect(list.bytes).toEqual(answers.encode(body));
    await api.call('POST', MAPS, { metadata: { name: 'b' } });
    const page = await send('GET', `${MAPS}?limit=1`, PROTOBUF);
    expect(page.bytes.includes('ConfigMapList')).toBe(true);
    expect(page.bytes.includes('eyJ') || page.bytes.length > 80).toBe(true);
    const missing = await send('GET', `${MAPS}/nosuch`, PROTOBUF);
    expect([missing.status, missing.type]).toEqual([404, PROTOBUF]);
    expect(read(missing, 'apimachinery.pkg.apis.meta.v1.Status')).toMatchObject({
      kind: 'Status',
      code: 404,
      reason: 'NotFound',
    });
  });

  it('writes and reads in it', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sent' }, data: { x: 'y' } };
    const made = await send('POST', MAPS, PROTOBUF, answers.encode(object), PROTOBUF);
    expect([made.status, made.type]).toEqual([201, PROTOBUF]);
    expect(read(made, CONFIG_MAP)).toMatchObject({ metadata: { name: 'sent' }, data: { x: 'y' } });
    const gone = await send('DELETE', `${MAPS}/sent`, PROTOBUF);
    expect(read(gone, 'apimachinery.pkg.apis.meta.v1.Status')).toMatchObject({ status: 'Success' });
  });

  it('watches in frames, from what there is to an error at its end', async () => {
    const { body } = await api.call('GET', MAPS);
    const path = `${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=${body.metadata.resourceVersion}`;
    const watch = send('GET', path, PROTOBUF);
    const { body: made } = await api.call('POST', MAPS, { metadata: { name: 'seen' } });
    const { bytes, status, type } = await watch;
    expect([status, type]).toEqual([200, `${PROTOBUF};stream=watch`]);
    expect(bytes).toEqual(answers.event('ADDED', made));
    const initial = await send(
      'GET',
      `${MAPS}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name=a`,
      PROTOBUF,
    );
    expect(initial.bytes.readUInt32BE()).toBe(initial.bytes.length - 4);
    expect(initial.bytes.includes('ADDED')).toBe(true);
  });

  it('gets the metadata alone, of custom resources too, and of a list', async () => {
    const one = await send(
      'GET',
      '/apis/example.com/v1/namespaces/default/things/t',
      `${PROTOBUF};${PARTIAL}`,
    );
    expect([one.status, one.type]).toEqual([200, PROTOBUF]);
    expect(one.bytes.includes('PartialObjectMetadata')).toBe(true);
    const all = await send('GET', '/apis/example.com/v1/things', `${PROTOBUF};${PARTIAL_LIST}`);
    expect(all.status).toBe(200);
    expect(all.bytes.includes('PartialObjectMetadataList')).toBe(true);
  });

  it('gets JSON of custom resources if it takes that, and else nothing', async () => {
    const path = '/apis/example.com/v1/namespaces/default/things';
    expect((await send('GET', path, `${PROTOBUF},application/json`)).type).toBe('application/json');
    expect((await send('GET', path, PROTOBUF)).status).toBe(406);
  });

  it.each([
    ['a table', `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`, MAPS],
    ['the view of a list of an object', `${PROTOBUF};${PARTIAL_LIST}`, `${MAPS}/a`],
    ['the view of an object of a list', `${PROTOBUF};${PARTIAL}`, MAPS],
    ['CBOR', 'application/cbor', MAPS],
  ])('is refused %s', async (_what, accept, path) => {
    const { status, type } = await send('GET', path, accept);
    expect([status, type]).toEqual([406, 'application/json']);
  });

  it('makes definitions, with schemas, and API services', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'boxes.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { kind: 'Box', plural: 'boxes', singular: 'box', listKind: 'BoxList' },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    additionalProperties: { type: 'array', items: { type: 'string', default: 'x' } },
                    'x-kubernetes-validations': [{ rule: 'self.size() < 3', message: 'too many' }],
                  },
                },
              },
            },
          },
        ],
      },
    };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const made = await send('POST', path, PROTOBUF, answers.encode(definition), PROTOBUF);
    expect(made.status).toBe(201);
    const stored = read(made, 'apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition');
    expect(stored).toMatchObject({ spec: definition.spec });
    const service = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.example.org' },
      spec: { group: 'example.org', version: 'v1', groupPriorityMinimum: 10, versionPriority: 10 },
    };
    const answer = await send(
      'POST',
      '/apis/apiregistration.k8s.io/v1/apiservices',
      PROTOBUF,
      answers.encode(service),
      PROTOBUF,
    );
    expect(read(answer, 'kube-aggregator.pkg.apis.apiregistration.v1.APIService')).toMatchObject({
      spec: service.spec,
    });
  });

  it('is refused what its rights do not cover, in protobuf', async () => {
    const headers = { authorization: 'Bearer viewers-token', accept: PROTOBUF };
    const response = await fetch(api.url + MAPS, { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([403, PROTOBUF]);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(read({ bytes }, 'apimachinery.pkg.apis.meta.v1.Status')).toMatchObject({ reason: 'Forbidden' });
  });
});

describe('a client that asks for YAML', () => {
  it('gets refusals in it, but not those of a view', async () => {
    expect((await send('GET', `${MAPS}/nosuch`, 'application/yaml')).type).toBe('application/yaml');
    const table = 'application/yaml;as=Table;g=meta.k8s.io;v=v1';
    expect((await send('GET', `${MAPS}/nosuch`, table)).type).toBe('application/json');
  });
});
