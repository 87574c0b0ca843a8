import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../machinery/kubernetes/index.js';
import { semanticEqual } from '../../machinery/kubernetes/index.js';
import { createSchemaRegistry, decodeJson } from '../schema/index.js';
import { createKindRegistry } from './kind-registry.js';

/**
 * Compares with what a genuine API server answered: test/vectors/kubectl-transcripts.jsonl.gz. Absent, null and
 * empty values are equal there.
 */
interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType?: string;
  readonly request?: unknown;
  readonly response?: unknown;
}

const VECTORS = new URL('../../../test/vectors/kubectl-transcripts.jsonl.gz', import.meta.url);
const kinds = createKindRegistry();
const schemas = createSchemaRegistry();

const exchanges = gunzipSync(readFileSync(VECTORS))
  .toString()
  .split('\n')
  .filter((line) => line !== '')
  .flatMap((line) => {
    const { command, exchanges: all } = JSON.parse(line) as { command: string; exchanges: Exchange[] };
    return all.map((exchange) => ({ command, ...exchange }));
  });

function kindOf(value: unknown) {
  const { apiVersion, kind } = (value ?? {}) as { apiVersion?: string; kind?: string };
  return kinds.findByKind(apiVersion ?? '', kind ?? '');
}

function decoded(value: unknown): UnstructuredObject {
  const kind = kindOf(value);
  if (!kind) throw new Error('not one of our kinds');
  return decodeJson(JSON.stringify(value), schemas, kind.schema).object;
}

/** Fields of a service that newer servers than the recorded one show, or that are chosen when it is stored. */
const NEWER_OR_CHOSEN = ['internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy', 'clusterIP', 'clusterIPs'];

function comparableSpec({ kind, spec }: UnstructuredObject): unknown {
  if (kind !== 'Service') return spec;
  return Object.fromEntries(
    Object.entries(spec as object).filter(([field]) => !NEWER_OR_CHOSEN.includes(field)),
  );
}

/** Every object of our kinds that the genuine server sent. */
const answered = exchanges
  .flatMap(({ command, response }) => {
    const items = (response as { items?: unknown[] } | undefined)?.items;
    return (Array.isArray(items) ? items : [response]).map((object) => ({ command, object }));
  })
  .filter(({ object }) => kindOf(object));

const created = exchanges.filter(
  ({ method, request, status }) => method === 'POST' && status === 201 && kindOf(request),
);
const replaced = exchanges.filter(
  ({ method, request, status }) => method === 'PUT' && status === 200 && kindOf(request),
);

describe('the kinds, beside a genuine API server', () => {
  it('has recordings to compare with', () => {
    expect(answered.length).toBeGreaterThan(30);
    expect(created.length).toBeGreaterThan(0);
    expect(replaced.length).toBeGreaterThan(0);
  });

  it.each(created)('creates what the genuine server created: $command', ({ request, response }) => {
    const object = decoded(request);
    const kind = kindOf(object);
    kind?.applyDefaults(object);
    kind?.prepareForCreate(object);
    const expected = decoded(response);
    object.metadata.namespace ??= expected.metadata.namespace;
    expect(kind?.validateCreate(object)).toEqual([]);
    expect(semanticEqual(comparableSpec(object), comparableSpec(expected)), JSON.stringify(object.spec)).toBe(
      true,
    );
    expect(semanticEqual(object.status, expected.status)).toBe(true);
    expect(object.metadata.generation).toBe(expected.metadata.generation);
  });

  it.each(replaced)('replaces as the genuine server did: $command', ({ path, request, response }) => {
    const object = decoded(request);
    const kind = kindOf(object);
    const expected = decoded(response);
    const before = answered.findLast(
      ({ object: other }) =>
        decoded(other).metadata.name === object.metadata.name &&
        Number(decoded(other).metadata.resourceVersion) < Number(expected.metadata.resourceVersion),
    );
    const old = decoded(before?.object);
    kind?.applyDefaults(object);
    kind?.prepareForUpdate(object, old, '');
    expect(kind?.validateUpdate(object, old, ''), path).toEqual([]);
    expect(semanticEqual(object.spec, expected.spec), JSON.stringify(object.spec)).toBe(true);
    expect(object.metadata.generation).toBe(expected.metadata.generation);
  });

  it.each(answered)(
    'knows every field of an answer, adds nothing, and finds no fault: $command',
    ({ object }) => {
      const kind = kindOf(object);
      const { object: known, findings } = decodeJson(JSON.stringify(object), schemas, kind?.schema ?? '');
      expect(findings.filter(({ problem }) => problem === 'unknown')).toEqual([]);
      const before = structuredClone(known);
      kind?.applyDefaults(known);
      expect(semanticEqual(comparableSpec(known), comparableSpec(before)), JSON.stringify(known.spec)).toBe(
        true,
      );
      // The recorded cluster gave its services addresses of another network.
      const faults = kind?.validateCreate(known).filter(({ field }) => field !== 'spec.clusterIPs[0]');
      expect(faults).toEqual([]);
    },
  );

  it('raises the generation exactly when the genuine server did', () => {
    let compared = 0;
    for (const [index, { method, request, response, status, path }] of exchanges.entries()) {
      const kind = kindOf(response);
      const before = exchanges[index - 1]?.response;
      if (method !== 'PATCH' || status !== 200 || !kind || path.includes('dryRun') || !request) continue;
      if (kindOf(before) !== kind) continue;
      const old = decoded(before);
      const object = decoded(response);
      const expected = object.metadata.generation;
      kind.applyDefaults(object);
      kind.prepareForUpdate(object, old, '');
      expect(object.metadata.generation, path).toBe(expected);
      expect(kind.validateUpdate(object, old, '')).toEqual([]);
      compared++;
    }
    expect(compared).toBeGreaterThan(5);
  });
});
