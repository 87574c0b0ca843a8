import { errorMessage } from '@rollkeeper/machinery/errors';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { methodNotAllowed, notFound, unknownPath } from '../../schema/errors/index.js';
import type { PageSource } from '../handlers/list-pages.js';
import { respondWithList } from '../handlers/list-response.js';
import { negotiate, ok } from '../../http/index.js';
import type { ApiRequest, ApiResponse } from '../../http/index.js';
import { NAME_COLUMN, column } from '../../kinds/index.js';
import type { ShownKind } from '../../kinds/index.js';
import type { RegistryContext } from '../registry/index.js';
import type { ProtobufAnswers } from '../../http/protobuf/protobuf-answers.js';
import { parseSelection } from '../../kinds/selectors/index.js';
import { checkView, presentObject } from '../../http/table.js';
import { request } from 'node:https';

interface ComponentHealth {
  readonly isHealthy: boolean;
  readonly message: string;
}

const TIMEOUT_MS = 2000;

/**
 * Asks a component of the control plane on this machine for its health, as a genuine server does: without checking whose
 * certificate it is, because nothing is sent that is worth protecting.
 */
function probeComponent(port: number, signal: AbortSignal): Promise<ComponentHealth> {
  const url = `https://127.0.0.1:${port}/healthz`;
  const failed = (error: unknown): ComponentHealth => ({
    isHealthy: false,
    message: `Get "${url}": ${wordsOf(error, port)}`,
  });
  return new Promise((resolve) => {
    const asked = request(url, { rejectUnauthorized: false, timeout: TIMEOUT_MS, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text = (text + chunk).slice(0, 1024)));
      response.on('end', () => resolve({ isHealthy: response.statusCode === 200, message: text }));
      response.on('error', (error) => resolve(failed(error)));
    });
    asked.on('timeout', () => asked.destroy(new Error('context deadline exceeded')));
    asked.on('error', (error) => resolve(failed(error)));
    asked.end();
  });
}

/** In the words of Go. */
function wordsOf(error: unknown, port: number): string {
  const isRefused = (error as { readonly code?: unknown }).code === 'ECONNREFUSED';
  return isRefused ? `dial tcp 127.0.0.1:${port}: connect: connection refused` : errorMessage(error);
}

const WARNING = 'v1 ComponentStatus is deprecated in v1.19+';

/** Old: what the server knows of the other parts of its control plane. Source: pkg/registry/core/componentstatus. */
export const COMPONENT_STATUSES: ShownKind = {
  type: {
    group: '',
    version: 'v1',
    resource: 'componentstatuses',
    kind: 'ComponentStatus',
    namespaced: false,
  },
  listKind: 'ComponentStatusList',
  schema: 'io.k8s.api.core.v1.ComponentStatus',
  columns: [NAME_COLUMN, column('Status'), column('Message'), column('Error')],
  toRow(object) {
    const [condition] = objectOfKind<ComponentStatus>(object).conditions;
    const isHealthy = condition.status === 'True';
    return [object.metadata.name, isHealthy ? 'Healthy' : 'Unhealthy', condition.message, ''];
  },
};

interface ComponentStatus extends UnstructuredObject {
  readonly conditions: readonly [
    {
      readonly type: 'Healthy';
      readonly status: 'True' | 'False';
      readonly message: string;
    },
  ];
}

interface ComponentStatusCall {
  readonly request: ApiRequest;
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  readonly subresource: string;
  readonly protobuf: ProtobufAnswers;
}

/** `GET` of one or of all; they are asked for their health at that moment. */
export async function handleComponentStatuses(
  context: RegistryContext,
  { name, namespace, protobuf, request, subresource }: ComponentStatusCall,
): Promise<ApiResponse> {
  if (subresource !== '' || namespace !== '') throw unknownPath();
  if (request.method !== 'GET' || request.flag('watch')) throw methodNotAllowed();
  const accept = negotiate(request.headers.accept, { hasProtobuf: true });
  const view = { kind: COMPONENT_STATUSES, accept, request, protobuf };
  checkView(view);
  const selection = parseSelection(request.query, SELECTABLE, name);
  const all = Object.entries(PROBES).filter(([known]) => name === '' || known === name);
  if (name !== '' && all.length === 0) throw notFound(COMPONENT_STATUSES.type, name);
  const found = await Promise.all(
    all.map(async ([known, probe]) => statusOf(known, await probe(context, request.signal))),
  );
  const selected = found.filter((object) => selection.matches(object));
  request.warn(WARNING);
  if (name === '') return respondWithList(context, view, onePage(selected), () => ({}));
  const [only] = selected;
  if (!only) throw notFound(COMPONENT_STATUSES.type, name);
  return ok(presentObject(only, COMPONENT_STATUSES, view, context.clock.now()));
}

type Probe = (context: RegistryContext, signal: AbortSignal) => Promise<ComponentHealth>;

/** By the names of a genuine server: the store has that of etcd, whose place it takes. */
const PROBES: Readonly<Record<string, Probe>> = {
  'controller-manager': (_context, signal) => probeComponent(10257, signal),
  scheduler: (_context, signal) => probeComponent(10259, signal),
  'etcd-0': ({ storage }) =>
    storage.assertWritable().then(
      () => ({ isHealthy: true, message: 'ok' }),
      (error: unknown) => ({ isHealthy: false, message: errorMessage(error) }),
    ),
};

const SELECTABLE = {
  type: COMPONENT_STATUSES.type,
  selectableFields: ({ metadata }: Readonly<UnstructuredObject>) => ({ 'metadata.name': metadata.name }),
};

function statusOf(name: string, { isHealthy, message }: ComponentHealth): ComponentStatus {
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [{ type: 'Healthy', status: isHealthy ? 'True' : 'False', message }],
  };
}

function onePage(objects: readonly UnstructuredObject[]): PageSource {
  let pages = [{ items: objects.map((object) => ({ object })), revision: 0, remaining: 0, isLast: true }];
  return {
    next() {
      const [page] = pages;
      pages = [];
      return Promise.resolve(page);
    },
  };
}
