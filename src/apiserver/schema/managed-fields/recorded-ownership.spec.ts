import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { createSchemaRegistry, decodeJson, emptyObjectOf, writeEmpties } from '../index.js';
import { applyConfig } from './apply.js';
import type { ManagedFieldsEntry, Manager } from './managers.js';
import { readOwners, writeOwners } from './managers.js';
import { shapeOfType } from './shape.js';
import { ownersAfterUpdate } from './update.js';

/** Ownership as a genuine API server wrote it down: test/vectors/kubectl-transcripts.jsonl.gz. */
interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType?: string;
  readonly request?: UnstructuredObject;
  readonly response?: UnstructuredObject;
}

const VECTORS = new URL('../../../../test/vectors/kubectl-transcripts.jsonl.gz', import.meta.url);
const kinds = createKindRegistry();
const schemas = createSchemaRegistry();
const SCHEMA = 'io.k8s.api.apps.v1.Deployment';
const shape = shapeOfType(schemas, SCHEMA);
const EMPTY = emptyObjectOf(schemas, SCHEMA);

const exchanges = gunzipSync(readFileSync(VECTORS))
  .toString()
  .split('\n')
  .filter((line) => line !== '')
  .flatMap((line) => {
    const { command, exchanges: all } = JSON.parse(line) as { command: string; exchanges: Exchange[] };
    return all.map((exchange) => ({ command, ...exchange }));
  });

const deployments = exchanges.filter(
  ({ response, status, path }) =>
    response?.kind === 'Deployment' &&
    status < 300 &&
    !path.includes('dryRun') &&
    response.metadata.managedFields,
);

function decoded(value: unknown): UnstructuredObject {
  const { object } = decodeJson(JSON.stringify(value), schemas, SCHEMA, { empties: 'written' });
  writeEmpties(object, schemas, SCHEMA);
  return object;
}

function entriesOf(object: UnstructuredObject | undefined): ManagedFieldsEntry[] {
  return (object?.metadata.managedFields ?? []) as ManagedFieldsEntry[];
}

function updater(path: string, operation: Manager['operation'] = 'Update'): Manager {
  const name = new URL(path, 'http://x').searchParams.get('fieldManager') ?? '';
  return { name, operation, apiVersion: 'apps/v1', subresource: '' };
}

/** The genuine server that was recorded does not keep these apart by the order of time alone. */
function byName(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  return entries
    .map(({ time: _time, ...entry }) => entry)
    .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

describe('ownership, beside a genuine API server', () => {
  const creations = deployments.filter(({ method }) => method === 'POST');
  const changes = deployments
    .map((exchange) => {
      const version = Number(exchange.response?.metadata.resourceVersion);
      const before = deployments.findLast(
        ({ response }) =>
          response?.metadata.uid === exchange.response?.metadata.uid &&
          Number(response?.metadata.resourceVersion) < version,
      )?.response;
      return { ...exchange, before };
    })
    .filter(({ method, before }) => method === 'PATCH' && before);

  it('has recordings to compare with', () => {
    expect(creations.length).toBeGreaterThan(0);
    expect(changes.length).toBeGreaterThan(5);
  });

  it.each(creations)('is written down at a creation: $command', ({ path, request, response }) => {
    const object = decoded(request);
    const kind = kinds.findByKind('apps/v1', 'Deployment');
    kind?.applyDefaults(object);
    kind?.prepareForCreate(object);
    const owners = ownersAfterUpdate(new Map(), { before: EMPTY, after: object, shape }, updater(path), 'T');
    expect(byName(writeOwners(owners))).toEqual(byName(entriesOf(response)));
  });

  const patches = changes.filter(({ contentType }) => !contentType?.includes('apply'));
  it.each(patches)('moves with a patch: $command', ({ path, request, before, response }) => {
    const submitted = Array.isArray(request)
      ? (request as { path: string; value: ManagedFieldsEntry[] }[]).find((op) =>
          op.path.endsWith('managedFields'),
        )
      : undefined;
    const owners = readOwners(submitted?.value ?? entriesOf(before)) ?? new Map();
    const manager = updater(path);
    const after = ownersAfterUpdate(
      owners,
      { before: decoded(before), after: decoded(response), shape },
      manager,
      'T',
    );
    // The controller has written in between, as can be seen from its entry only.
    const others = (entries: readonly ManagedFieldsEntry[]) =>
      byName(entries).filter((entry) => entry.manager !== 'kube-controller-manager');
    expect(others(writeOwners(after))).toEqual(others(entriesOf(response)));
  });

  const applies = changes.filter(({ contentType }) => contentType?.includes('apply'));
  it.each(applies)(
    'is what the configuration says after an apply: $command',
    ({ path, request, before, response }) => {
      const { owners } = applyConfig({
        live: decoded(before),
        config: request,
        owners: readOwners(entriesOf(before)) ?? new Map(),
        shape,
        manager: updater(path, 'Apply'),
        time: 'T',
      });
      const applied = (entries: readonly ManagedFieldsEntry[]) =>
        byName(entries).filter(({ operation }) => operation === 'Apply');
      expect(applied(writeOwners(owners))).toEqual(applied(entriesOf(response)));
    },
  );
});
