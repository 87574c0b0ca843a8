import { apiVersionOf, stringifyJson } from '../../base/kubernetes/index.js';
import type { RegistryContext } from '../registry/index.js';
import type { ApiResponse, Reservation } from '../http/index.js';
import { ok } from '../http/index.js';
import { presentList } from '../table/index.js';
import type { ResourceCall } from './handler.js';
import type { SelectedPage } from './list-pages.js';
import { FIRST_PAGE_ROOM, PAGE_ROOM } from './list-pages.js';

/** About so many characters are written together. */
const CHUNK_LENGTH = 64 * 1024;

/** The `metadata` of a list, when its last page is known. */
export type ListMetadata = (last: SelectedPage) => object;

/**
 * Answers pages as one list, in the view that the client asked for. One page is answered whole; several are sent while they
 * are read, so that none of them is held for longer than its reader needs, and `metadata`, which tells where they end,
 * comes behind them. What goes wrong between two pages cuts the answer off.
 */
export async function respondWithList(
  context: RegistryContext,
  call: ResourceCall,
  pages: AsyncGenerator<SelectedPage, void, undefined>,
  metadataOf: ListMetadata,
): Promise<ApiResponse> {
  const room = await call.request.reserve(FIRST_PAGE_ROOM);
  call.request.onClose(() => room.release());
  try {
    const first = await pages.next();
    if (first.done) throw new Error('a list has no page');
    const view = (page: SelectedPage): object => present(context, call, page, metadataOf(page));
    if (first.value.isLast) return { ...ok(view(first.value)), room };
    const stream = listText(call, view, pages, { first: first.value, room });
    return { status: 200, stream, contentType: `application/${call.accept.format}`, isWhole: true };
  } catch (error) {
    room.release();
    throw error;
  }
}

function present(context: RegistryContext, call: ResourceCall, page: SelectedPage, metadata: object): object {
  const { kind } = call;
  const list = {
    kind: kind.listKind,
    apiVersion: apiVersionOf(kind.type),
    metadata,
    items: page.items,
  };
  return presentList(list, kind, call, context.clock.now());
}

/** The text of a list whose first page has been read. JSON, which is YAML as well. */
async function* listText(
  call: ResourceCall,
  view: (page: SelectedPage) => object,
  pages: AsyncGenerator<SelectedPage, void, undefined>,
  { first, room: firstRoom }: { readonly first: SelectedPage; readonly room: Reservation },
): AsyncGenerator<string> {
  let room = firstRoom;
  try {
    let parts = partsOf(view(first));
    let separator = '';
    yield `{${parts.head},${JSON.stringify(parts.field)}:[`;
    for (;;) {
      for (const chunk of chunksOf(parts.entries, separator)) {
        yield chunk;
        room.progress(chunk.length);
        separator = ',';
      }
      if (room === firstRoom) {
        room.release();
        parts = { ...parts, entries: [] };
        const pageRoom = await call.request.reserve(PAGE_ROOM);
        call.request.onClose(() => pageRoom.release());
        room = pageRoom;
      }
      const next = await pages.next();
      if (next.done) break;
      parts = partsOf(view(next.value));
    }
    yield `],"metadata":${stringifyJson(parts.metadata)}}\n`;
  } finally {
    room.release();
    await pages.return();
  }
}

interface ListParts {
  readonly metadata: unknown;
  readonly field: 'items' | 'rows';
  readonly entries: readonly unknown[];
  /** The other fields, without the braces around them. */
  readonly head: string;
}

function partsOf(list: object): ListParts {
  const { metadata, ...fields } = list as { metadata?: unknown; items?: unknown[]; rows?: unknown[] };
  const field = fields.rows ? 'rows' : 'items';
  const { [field]: entries = [], ...head } = fields;
  return { metadata, field, entries, head: stringifyJson(head).slice(1, -1) };
}

function* chunksOf(entries: readonly unknown[], separator: string): Generator<string> {
  let chunk = '';
  for (const entry of entries) {
    chunk += `${chunk === '' ? separator : ','}${stringifyJson(entry)}`;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    separator = ',';
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
