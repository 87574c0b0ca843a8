import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createKindRegistry, createSchemaRegistry, RedisStorage } from '../../src/apiserver/index.js';
import { decodeProtobuf } from '../../src/apiserver/http/protobuf/decode-protobuf.js';
import { ProtobufAnswers } from '../../src/apiserver/http/protobuf/protobuf-answers.js';
import { startApiServer, TOKEN } from './api-server-harness.js';
import type { ApiAnswer, Body, RunningApiServer } from './api-server-harness.js';
import { BUILT_IN, CUSTOM, DEFINITION } from './empties/cases.js';
import type { EmptiedField, EmptiedKind } from './empties/cases.js';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const schemas = createSchemaRegistry();
const protobuf = new ProtobufAnswers(createKindRegistry(), schemas);

/** The value that a request gives the fields: their empty values, or null. */
type Emptiness = 'empty' | 'null';

/** A way to write an object whose fields are full, or are not there yet. */
interface Way {
  readonly name: string;
  /** Whether it merges: an empty map or struct changes nothing, and null takes the field away. */
  readonly merges?: true;
  readonly isNew?: true;
  readonly builtInOnly?: true;
  write(kind: EmptiedKind, name: string, emptiness: Emptiness, query: string): Promise<ApiAnswer>;
}

let servers: Readonly<Record<'memory' | 'Redis', RunningApiServer>>;

beforeAll(async () => {
  const storage = new RedisStorage({ url: inject('redisUrl'), keyPrefix: `empties-${randomUUID()}:` });
  servers = { memory: await startApiServer(), Redis: await startApiServer({ storage }) };
  for (const server of Object.values(servers))
    await server.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION);
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));

function withValues(kind: EmptiedKind, name: string, valueOf?: (field: EmptiedField) => unknown): Body {
  const { apiVersion, base, fields } = kind;
  const object: Body = { apiVersion, kind: kind.kind, metadata: { name }, ...structuredClone(base) };
  if (valueOf) for (const field of fields) put(object, field.path, valueOf(field));
  return object;
}

const emptied = (kind: EmptiedKind, name: string, emptiness: Emptiness): Body =>
  withValues(kind, name, (field) => emptiedValue(field, emptiness));

function emptiedValue({ empty, isRequired }: EmptiedField, emptiness: Emptiness): unknown {
  return emptiness === 'null' && !isRequired ? null : empty;
}

function put(object: Body, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop()!;
  let at = object;
  for (const name of names) at = at[name] ??= {};
  at[last] = structuredClone(value);
}

function read(object: Body, path: string): unknown {
  return path.split('.').reduce((at: Body, name) => at?.[name], object);
}

function waysOf(server: RunningApiServer): readonly Way[] {
  const patch =
    (type: string, bodyOf: (...args: Parameters<Way['write']>) => unknown): Way['write'] =>
    (kind, name, emptiness, query) =>
      server.call('PATCH', `${kind.path}/${name}?${query}`, bodyOf(kind, name, emptiness, query), {
        'content-type': type,
      });
  const newest = async (kind: EmptiedKind, name: string, emptiness: Emptiness): Promise<Body> => {
    const object = emptied(kind, name, emptiness);
    const { resourceVersion } = (await server.call('GET', `${kind.path}/${name}`)).body.metadata;
    return { ...object, metadata: { ...object.metadata, resourceVersion } };
  };
  const inProtobuf = (method: string, path: string, object: Body): Promise<ApiAnswer> =>
    server.call(method, path, protobuf.encode(withoutEmpties(object) as object), {
      'content-type': PROTOBUF,
    });
  return [
    {
      name: 'create',
      isNew: true,
      write: (kind, name, emptiness, query) =>
        server.call('POST', `${kind.path}?${query}`, emptied(kind, name, emptiness)),
    },
    {
      name: 'create in protobuf',
      isNew: true,
      builtInOnly: true,
      write: (kind, name, emptiness, query) =>
        inProtobuf('POST', `${kind.path}?${query}`, emptied(kind, name, emptiness)),
    },
    {
      name: 'update',
      write: async (kind, name, emptiness, query) =>
        server.call('PUT', `${kind.path}/${name}?${query}`, await newest(kind, name, emptiness)),
    },
    {
      name: 'update in protobuf',
      builtInOnly: true,
      write: async (kind, name, emptiness, query) =>
        inProtobuf('PUT', `${kind.path}/${name}?${query}`, await newest(kind, name, emptiness)),
    },
    {
      name: 'JSON patch',
      write: patch('application/json-patch+json', ({ fields }, _name, emptiness) =>
        fields.map((field) => ({
          op: 'replace',
          path: `/${field.path.replaceAll('.', '/')}`,
          value: emptiedValue(field, emptiness),
        })),
      ),
    },
    { name: 'merge patch', merges: true, write: patch('application/merge-patch+json', emptied) },
    {
      name: 'strategic merge patch',
      merges: true,
      builtInOnly: true,
      write: patch('application/strategic-merge-patch+json', emptied),
    },
    {
      name: 'apply',
      write: (kind, name, emptiness, query) =>
        patch('application/apply-patch+yaml', emptied)(
          kind,
          name,
          emptiness,
          `${query}&fieldManager=applier&force=true`,
        ),
    },
  ];
}

/** The value that must be read after a field has been emptied. */
function expected(
  field: EmptiedField,
  { isCustom }: EmptiedKind,
  { isNew, merges, name }: Way,
  emptiness: Emptiness,
): unknown {
  const { full, isAtomic = false, isReplacedByPatch, isRequired, kept, unset } = field;
  const isApplied = name === 'apply';
  // A map keeps its entries if a request adds none to it.
  const addsNothing =
    isEmptyMap(emptiedValue(field, emptiness)) || (isApplied && emptiness === 'null' && isMap(full));
  const isReplaced = isReplacedByPatch === true && name === 'strategic merge patch';
  if (!isNew && addsNothing && ((merges && !isReplaced) || (isApplied && !isAtomic))) return full;
  if (emptiness === 'empty' || isRequired) return kept;
  if (!isCustom || merges) return unset;
  return unset ?? null;
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyMap(value: unknown): boolean {
  return isMap(value) && Object.keys(value as object).length === 0;
}

/**
 * The differences from the expected values, in one way of writing: in its answer, in what is read then, and in
 * protobuf.
 */
async function differencesOf(
  server: RunningApiServer,
  kind: EmptiedKind,
  way: Way,
  emptiness: Emptiness,
): Promise<readonly string[]> {
  const name = `${way.name.toLowerCase().replaceAll(' ', '-')}-${emptiness}`;
  if (!way.isNew) {
    const full = withValues(kind, name, (field) => field.full);
    const { status, text } = await server.call('POST', `${kind.path}?fieldManager=applier`, full);
    if (status !== 201) return [`${kind.kind} full: ${text}`];
  }
  const rehearsed = await way.write(kind, name, emptiness, 'dryRun=All');
  const { body, status, text } = await way.write(kind, name, emptiness, '');
  if (status > 201) return [`${kind.kind} ${name}: ${text}`];
  const { body: stored } = await server.call('GET', `${kind.path}/${name}`);
  const found: string[] = [];
  const told = (where: string, path: string, value: unknown, wanted: unknown): void => {
    if (isDeepStrictEqual(value, wanted)) return;
    const shown = [value, wanted].map((one) => JSON.stringify(one)).join(', not ');
    found.push(`${kind.kind} ${name} ${where} ${path}: ${shown}`);
  };
  for (const field of kind.fields) {
    const value = expected(field, kind, way, emptiness);
    told('answer', field.path, read(body, field.path), value);
    // An object that is not stored still has the empty list that was sent.
    const dry = read(rehearsed.body, field.path);
    if (value !== null) told('dry run', field.path, dry, value);
  }
  told('read', '', stored, body);
  if (!kind.isCustom) told('protobuf', '', await readInProtobuf(server, kind, name), withoutEmpties(stored));
  return found;
}

/** An object as a protobuf message has it: without empty lists, and without null. */
function withoutEmpties(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpties);
  if (!isMap(value)) return value;
  const said = Object.entries(value as object).filter(([, one]) => one !== null);
  return Object.fromEntries(said.map(([name, one]) => [name, withoutEmpties(one)]));
}

async function readInProtobuf(server: RunningApiServer, kind: EmptiedKind, name: string): Promise<Body> {
  const response = await fetch(`${server.url}${kind.path}/${name}`, {
    headers: { authorization: `Bearer ${TOKEN}`, accept: PROTOBUF },
  });
  const [group = ''] = kind.apiVersion.includes('/') ? kind.apiVersion.split('/') : ['core'];
  const schema = `io.k8s.api.${group.replace(/\..*/, '')}.v1.${kind.kind}`;
  return decodeProtobuf(Buffer.from(await response.arrayBuffer()), { schemas, schema });
}

describe.each(['memory', 'Redis'] as const)('false, 0, "", [], {} and null, stored in %s', (store) => {
  it.each([...BUILT_IN, CUSTOM].map((kind) => [kind.kind, kind] as const))(
    'are what Go makes of them, by every way to write a %s',
    async (_name, kind) => {
      const found: string[] = [];
      for (const way of waysOf(servers[store])) {
        if (way.builtInOnly && kind.isCustom) continue;
        for (const emptiness of ['empty', 'null'] as const)
          found.push(...(await differencesOf(servers[store], kind, way, emptiness)));
      }
      expect(found).toEqual([]);
    },
  );
});
