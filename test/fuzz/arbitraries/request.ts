import fc from 'fast-check';
import type { HostileRequest } from '../fuzzed-server.js';
import {
  APPLY_PATCH,
  JSON_PATCH,
  JSON_TYPE,
  MERGE_PATCH,
  PROTOBUF_TYPE,
  STRATEGIC_PATCH,
  YAML_TYPE,
} from '../seeds/index.js';
import type { FuzzedApi, FuzzedResource } from './api.js';
import { definitionRequests } from './definitions.js';
import { objectsOf } from './objects.js';
import { jsonPatches, mergePatches } from './patches.js';
import { protobufBodies } from './protobuf.js';
import { SAMPLE_NAME } from './samples.js';
import { jsonTexts, yamlTexts } from './texts.js';
import { hostileKey, hostileScalar, hostileValue } from './values.js';

/** So many are made at once, from a seed of their own. */
const BATCH = 100;

/** The requests of a run: the same for the same seed and API. */
export function* requestBatches(
  api: FuzzedApi,
  { count, seed }: { readonly seed: number; readonly count: number },
): Generator<readonly HostileRequest[]> {
  const requests = requestsTo(api);
  for (let from = 0; from < count; from += BATCH) {
    yield fc.sample(requests, { numRuns: Math.min(BATCH, count - from), seed: seed + from });
  }
}

const QUERIES: Readonly<Record<string, readonly string[]>> = {
  dryRun: ['All', 'None', ''],
  fieldManager: ['fuzz', 'other', '\u0000', 'x'.repeat(200)],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  force: ['true', 'false', ''],
  fieldSelector: ['metadata.name=sample', 'metadata.name!=x', 'spec.x=1', 'a', '=', ',', '\\,'],
  labelSelector: ['app=sample', 'app in (a,b)', '!app', 'a>1', 'constructor', '(', ',', 'app notin ()', '='],
  limit: ['1', '2', '0', '-1', '1e3', '99999999999999999999'],
  continue: ['x', 'e30', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhL2IifQ', ''],
  resourceVersion: ['0', '1', '2', '99999999', '-1', 'x', ''],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'x', ''],
  sendInitialEvents: ['true', 'false', ''],
  allowWatchBookmarks: ['true', 'false'],
  includeObject: ['None', 'Object', 'Metadata', 'x'],
  gracePeriodSeconds: ['0', '1', '-1', '9223372036854775807', 'x'],
  propagationPolicy: ['Background', 'Foreground', 'Orphan', 'constructor', ''],
  orphanDependents: ['true', 'false', 'x'],
  pretty: ['true'],
  timeout: ['1s', 'x'],
};

const query: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .constantFrom(...Object.keys(QUERIES))
          .chain((name) => fc.constantFrom(...QUERIES[name]!).map((value) => [name, value] as const)),
      },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...Object.keys(QUERIES)), hostileScalar.map(String)) },
      { weight: 1, arbitrary: fc.tuple(hostileKey, hostileScalar.map(String)) },
    ),
    { maxLength: 3 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&'));

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, 2000);
}

const ACCEPTS = [
  ...['application/json', '*/*', 'application/yaml', 'application/vnd.kubernetes.protobuf', 'text/html', ''],
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v9;g=x',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  ';;;,,,===',
];

const usualHeaders: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    accept: fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          'application/json',
          '*/*',
          'application/json;as=Table;v=v1;g=meta.k8s.io,*/*',
          'application/vnd.kubernetes.protobuf,application/json',
          'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json',
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom(...ACCEPTS) },
    ),
    'accept-encoding': fc.constantFrom('gzip', 'br', 'gzip;q=0', '*'),
    'user-agent': fc.constantFrom('kubectl/v1.32', '', '/', 'x'.repeat(500), 'é', 'constructor/1'),
    'if-none-match': fc.constantFrom('*', '"x"'),
    traceparent: fc.constantFrom('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x', '00-0-0-0'),
  },
  { requiredKeys: [] },
);

const impersonation: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    'impersonate-user': fc.constantFrom(
      'x',
      '',
      'system:admin',
      'system:serviceaccount:default:default',
      'é',
    ),
    'impersonate-group': fc.constantFrom('system:masters', 'x', ''),
    'impersonate-uid': fc.constantFrom('1', ''),
    'impersonate-extra-scopes%2fx': fc.constantFrom('x', ''),
    'impersonate-extra-__proto__': fc.constantFrom('x'),
  },
  { requiredKeys: [] },
);

/** Seldom on behalf of others: most of them may do nothing, and so would find nothing. */
const headers: fc.Arbitrary<Record<string, string>> = fc
  .tuple(
    usualHeaders,
    fc.oneof({ weight: 19, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: impersonation }),
  )
  .map(([usual, others]) => ({ ...usual, ...others }));

const CONTENT_TYPES = [
  ...[JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH],
  ...[
    '',
    'text/plain',
    'application/json; charset=utf-16',
    'APPLICATION/JSON',
    'constructor',
    '__proto__',
    ';',
    'application/cbor',
  ],
];

interface Body {
  readonly contentType: string;
  readonly body: string | Buffer;
}

function requestsTo(api: FuzzedApi): fc.Arbitrary<HostileRequest> {
  const served = api.resources.filter(({ verbs }) => verbs.length > 0);
  const objects = objectsOf(api);
  const protobuf = protobufBodies(served);
  /** Mostly one that knows the verb. */
  const resourceWith = (verb: string): fc.Arbitrary<FuzzedResource> =>
    fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(...served.filter(({ verbs }) => verbs.includes(verb))) },
      { weight: 1, arbitrary: fc.constantFrom(...served) },
    );
  const names = fc.oneof(
    { weight: 8, arbitrary: fc.constant(SAMPLE_NAME) },
    { weight: 1, arbitrary: hostileKey.map(encode) },
  );

  const written = (of: FuzzedResource): fc.Arbitrary<Body> =>
    fc.oneof(
      { weight: 8, arbitrary: jsonTexts(objects(of)).map((body) => ({ contentType: JSON_TYPE, body })) },
      { weight: 3, arbitrary: yamlTexts(objects(of)).map((body) => ({ contentType: YAML_TYPE, body })) },
      { weight: 2, arbitrary: protobuf.map((body) => ({ contentType: PROTOBUF_TYPE, body })) },
      {
        weight: 1,
        arbitrary: fc.record({
          contentType: fc.constantFrom(...CONTENT_TYPES),
          body: fc.oneof(
            jsonTexts(hostileValue),
            fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          ),
        }),
      },
    );

  const patched = ({ sample }: FuzzedResource): fc.Arbitrary<Body> => {
    const merges = jsonTexts(mergePatches(sample));
    return fc.oneof(
      jsonTexts(jsonPatches(sample)).map((body) => ({ contentType: JSON_PATCH, body })),
      merges.map((body) => ({ contentType: MERGE_PATCH, body })),
      merges.map((body) => ({ contentType: STRATEGIC_PATCH, body })),
      yamlTexts(mergePatches(sample)).map((body) => ({ contentType: APPLY_PATCH, body })),
    );
  };

  /** An object's path, or that of one of its parts. */
  const objectPath = (of: FuzzedResource): fc.Arbitrary<string> =>
    fc
      .tuple(
        names,
        fc.oneof(
          { weight: 20, arbitrary: fc.constantFrom('', '', ...of.subresources) },
          { weight: 1, arbitrary: fc.constant('constructor') },
        ),
      )
      .map(([name, part]) => `${of.path}/${name}${part === '' ? '' : `/${part}`}`);

  const request = (
    method: string,
    verb: string,
    paths: (of: FuzzedResource) => fc.Arbitrary<string>,
    bodies?: (of: FuzzedResource) => fc.Arbitrary<Body>,
  ): fc.Arbitrary<HostileRequest> =>
    resourceWith(verb).chain((of) =>
      fc
        .tuple(paths(of), query, headers, bodies?.(of) ?? fc.constant(undefined))
        .map(([path, text, common, body]) => ({
          method,
          path: text === '' ? path : `${path}?${text}`,
          headers: { ...common, ...(body && { 'content-type': body.contentType }) },
          ...(body && { body: body.body }),
        })),
    );

  const collection = (of: FuzzedResource): fc.Arbitrary<string> => fc.constant(of.path);
  const deletion = (): fc.Arbitrary<Body> =>
    fc.record({
      contentType: fc.constantFrom(JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE),
      body: jsonTexts(fc.oneof(hostileValue, fc.constant({ gracePeriodSeconds: 0, dryRun: ['All'] }))),
    });

  return fc.oneof(
    { weight: 6, arbitrary: request('POST', 'create', collection, written) },
    { weight: 4, arbitrary: request('PUT', 'update', objectPath, written) },
    { weight: 10, arbitrary: request('PATCH', 'patch', objectPath, patched) },
    { weight: 2, arbitrary: request('PATCH', 'patch', applyPath(objectPath), patched) },
    { weight: 1, arbitrary: request('POST', 'create', objectPath, written) },
    { weight: 2, arbitrary: request('GET', 'get', objectPath) },
    { weight: 3, arbitrary: request('GET', 'list', collection) },
    { weight: 1, arbitrary: request('GET', 'watch', watchPath) },
    { weight: 1, arbitrary: request('DELETE', 'delete', dryDeletion(objectPath), deletion) },
    { weight: 1, arbitrary: strange },
    { weight: 4, arbitrary: definitionRequests },
  );
}

/** Applies need a manager. */
function applyPath(paths: (of: FuzzedResource) => fc.Arbitrary<string>) {
  return (of: FuzzedResource): fc.Arbitrary<string> =>
    fc
      .tuple(paths(of), fc.boolean())
      .map(([path, force]) => `${path}?fieldManager=fuzz${force ? '&force=true' : ''}&x=`);
}

/** Watches have to end. */
function watchPath({ path }: FuzzedResource): fc.Arbitrary<string> {
  return fc.constantFrom(
    `${path}?timeoutSeconds=1&watch=true&x=`,
    `${path}/${SAMPLE_NAME}?timeoutSeconds=1&watch=1&x=`,
  );
}

/** Deletes mostly by dry run, because the samples have to stay. */
function dryDeletion(paths: (of: FuzzedResource) => fc.Arbitrary<string>) {
  return (of: FuzzedResource): fc.Arbitrary<string> => paths(of).map((path) => `${path}?dryRun=All&x=`);
}

/** Paths and methods without a meaning. */
const strange: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'TRACE'),
    fc.array(
      fc.oneof(
        fc.constantFrom(
          'api',
          'apis',
          'v1',
          'apps',
          'namespaces',
          'fuzz',
          'deployments',
          'status',
          'openapi',
          'v3',
          'v2',
        ),
        fc.constantFrom(
          'healthz',
          'readyz',
          'livez',
          'version',
          'metrics',
          'logs',
          '..',
          '.',
          '%00',
          '%2e%2e',
          '%ff',
          '%',
        ),
        hostileKey.map(encode),
      ),
      { maxLength: 7 },
    ),
    query,
    headers,
  )
  .map(([method, parts, text, common]) => ({ method, path: `/${parts.join('/')}?${text}`, headers: common }));
