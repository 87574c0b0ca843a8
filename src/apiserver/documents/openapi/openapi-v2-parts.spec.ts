import { beforeEach, describe, expect, it } from 'vitest';
import { createKindRegistry, customKindsOf } from '../../kinds/index.js';
import type { CustomKind, Definition, KindRegistry } from '../../kinds/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { PROTOBUF_FORM } from './openapi-v2-protobuf.js';
import { JSON_FORM, OpenApiV2Parts } from './openapi-v2-parts.js';
import type { OpenApiV2Part } from './openapi-v2.js';

function aKind(plural: string, description = ''): CustomKind {
  const [made] = customKindsOf({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind: plural.toUpperCase() },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', description } },
        },
      ],
    },
  } as unknown as Definition);
  return made!;
}

let kinds: KindRegistry;
let schemas: SchemaRegistry;
/** The paths of each part that was made. */
let encoded: string[][];
let document: () => { etag: string; paths: Record<string, unknown>; definitions: Record<string, unknown> };

beforeEach(() => {
  kinds = createKindRegistry();
  schemas = createSchemaRegistry();
  encoded = [];
  const parts = new OpenApiV2Parts(kinds, schemas, {
    ...JSON_FORM,
    encode(part) {
      encoded.push(Object.keys(part.paths));
      return JSON_FORM.encode(part);
    },
  });
  document = () => {
    const { etag, make } = parts.document();
    return { etag, ...(JSON.parse(make().toString()) as Omit<ReturnType<typeof document>, 'etag'>) };
  };
});

function serve({ kind, schema }: CustomKind): void {
  schemas.put(kind.schema, schema);
  kinds.put(kind);
}

function withdraw({ kind }: CustomKind): void {
  kinds.remove(kind.type);
  schemas.remove(kind.schema);
}

describe('the document of version 2', () => {
  it('is made once for the kinds of the server, and once for each of a user', () => {
    const things = aKind('things');
    const first = document();
    serve(things);
    const second = document();
    document();
    expect(encoded).toHaveLength(2);
    expect(encoded[1]!.every((path) => path.startsWith('/apis/example.com/v1/'))).toBe(true);
    expect(Object.keys(second.paths)).toEqual([...encoded[0]!, ...encoded[1]!]);
    expect(second.definitions).toMatchObject({
      'io.k8s.api.core.v1.Pod': {},
      'com.example.v1.THINGS': { type: 'object' },
      'com.example.v1.THINGSList': { type: 'object' },
    });
    withdraw(things);
    expect(document()).toEqual(first);
    expect(encoded).toHaveLength(2);
  });

  it('has another ETag with each change, and the same one for the same kinds', () => {
    const before = document().etag;
    const things = aKind('things', 'one');
    serve(things);
    const one = document().etag;
    withdraw(things);
    serve(aKind('things', 'other'));
    expect(new Set([before, one, document().etag]).size).toBe(3);
    serve(things);
    expect(document().etag).toBe(one);
  });

  it('has kinds of users once, also if it begins with them', () => {
    serve(aKind('things'));
    const { definitions, paths } = document();
    expect(encoded[0]!.some((path) => path.includes('example.com'))).toBe(false);
    expect(Object.keys(paths).filter((path) => path.endsWith('/namespaces/{namespace}/things'))).toHaveLength(
      1,
    );
    expect(Object.keys(definitions).filter((name) => name.startsWith('com.example'))).toHaveLength(2);
  });

  it('is in protobuf what it would be if it were made in one piece', () => {
    const part = (name: string): OpenApiV2Part => ({
      paths: { [`/apis/${name}`]: {} },
      definitions: { [name]: { type: 'object', description: name } },
    });
    const [a, b] = [part('a'), part('b')];
    const whole = { paths: { ...a.paths, ...b.paths }, definitions: { ...a.definitions, ...b.definitions } };
    expect(PROTOBUF_FORM.join([a, b].map((one) => PROTOBUF_FORM.encode(one)))).toEqual(
      PROTOBUF_FORM.join([PROTOBUF_FORM.encode(whole)]),
    );
  });
});
