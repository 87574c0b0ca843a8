import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest, listNotAcceptable, notAcceptable } from '../schema/errors/index.js';
import type { ApiRequest, Negotiated } from './index.js';
import { describedColumns } from '../kinds/index.js';
import type { ShownKind, TableCell } from '../kinds/index.js';

/** How the client asked to see objects. */
interface View {
  readonly accept: Negotiated;
  readonly request: Pick<ApiRequest, 'query'>;
}

/** The requested parts of a Table; a watch sends its columns only once. */
interface TableParts {
  readonly columns: boolean;
}

interface ObjectList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly UnstructuredObject[];
}

/** An object, or the view of it that was asked for. */
export function presentObject(
  object: UnstructuredObject,
  kind: ShownKind,
  { accept, request }: View,
  nowMs: number,
  parts: TableParts = { columns: true },
): object {
  switch (accept.as) {
    case undefined:
      return object;
    case 'Table': {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return toTable([object], kind, { metadata, nowMs, ...parts, ...tableOptions(accept, request.query) });
    }
    default:
      if (accept.as === 'PartialObjectMetadataList') throw notAcceptable();
      return partial(object, accept);
  }
}

/** A list, or the view of it that was asked for. */
export function presentList(
  list: ObjectList,
  kind: ShownKind,
  { accept, request }: View,
  nowMs: number,
): object {
  switch (accept.as) {
    case undefined:
      return { ...list, items: list.items.map(itemOf) };
    case 'Table':
      return toTable(list.items, kind, {
        metadata: list.metadata,
        nowMs,
        columns: true,
        ...tableOptions(accept, request.query),
      });
    default:
      if (accept.as === 'PartialObjectMetadata') throw listNotAcceptable(listTypeOf(kind));
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${accept.metaVersion}`,
        metadata: list.metadata,
        items: list.items.map((object) => partial(object, accept)),
      };
  }
}

/** The type of a list inside the genuine server. */
export function listTypeOf({ hasStrategicMerge, listKind, type: { group } }: ShownKind): string {
  if (hasStrategicMerge === false) return 'unstructured.UnstructuredList';
  const [name = ''] = group.split('.');
  return `${name === '' || name === 'events' ? 'core' : name}.${listKind}`;
}

/** In a list of one kind the items do not repeat it. */
export function itemOf({ apiVersion: _apiVersion, kind: _kind, ...rest }: UnstructuredObject): object {
  return rest;
}

function partial({ metadata }: UnstructuredObject, accept: Negotiated): object {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${accept.metaVersion}`, metadata };
}

/**
 * Whether the view can be given at all; to be asked before anything is written.
 * @throws StatusError 400; 406 for the view of a list where an object is written
 */
export function checkView({
  accept,
  request,
}: View & { readonly request: Pick<ApiRequest, 'method'> }): void {
  const canBeList = request.method === 'GET' || request.method === 'DELETE';
  if (accept.as === 'PartialObjectMetadataList' && !canBeList) throw notAcceptable();
  if (accept.as === 'Table') tableOptions(accept, request.query);
}

function tableOptions(accept: Negotiated, query: URLSearchParams) {
  const includeObject = query.get('includeObject') || 'Metadata';
  if (includeObject !== 'None' && includeObject !== 'Metadata' && includeObject !== 'Object') {
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(includeObject)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  }
  return { includeObject, metaVersion: accept.metaVersion } as const;
}

interface TableOptions {
  readonly metadata: object;
  /** Wall clock, for ages. */
  readonly nowMs: number;
  readonly columns: boolean;
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  readonly metaVersion: 'v1' | 'v1beta1';
}

/** The `meta.k8s.io` Table that `kubectl get` prints. */
function toTable(objects: readonly UnstructuredObject[], kind: ShownKind, options: TableOptions): object {
  const apiVersion = `meta.k8s.io/${options.metaVersion}`;
  return {
    kind: 'Table',
    apiVersion,
    metadata: options.metadata,
    columnDefinitions: options.columns ? describedColumns(kind) : null,
    rows: objects.map((object) => ({
      cells: cellsOf(object, kind, options.nowMs),
      object: shownObject(object, options.includeObject, apiVersion),
    })),
  };
}

function shownObject(
  object: UnstructuredObject,
  include: TableOptions['includeObject'],
  apiVersion: string,
): object | null {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata };
}

/** Shows the name alone of a stored object whose fields have other types than the columns need. */
function cellsOf(object: UnstructuredObject, kind: ShownKind, nowMs: number): TableCell[] {
  try {
    return kind.toRow(object, nowMs);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return kind.columns.map(({ name }) => (name === 'Name' ? object.metadata.name : '<unknown>'));
  }
}
