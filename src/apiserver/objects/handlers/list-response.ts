import { apiVersionOf, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { RegistryContext } from '../registry/index.js';
import type { ApiResponse, Reservation } from '../../http/index.js';
import { listNotAcceptable, notAcceptable } from '../../schema/errors/index.js';
import { ok } from '../../http/index.js';
import { PROTOBUF_MEDIA_TYPE } from '../../http/protobuf/decode-protobuf.js';
import { itemOf, listTypeOf, presentList } from '../../http/table.js';
import type { ShownKind } from '../../kinds/index.js';
import type { ResourceCall } from './handler.js';
import type { PageSource, SelectedPage } from './list-pages.js';
import { LIST_STYLES } from './list-style.js';
import type { ListFrame, ListStyle } from './list-style.js';
import { FIRST_PAGE_ROOM, PAGE_ROOM } from './list-pages.js';

/** Approximate number of characters that are written together. */
const PIECE_LENGTH = 64 * 1024;

/** A request for a list, and how its objects are shown. */
interface ListCall extends Pick<ResourceCall, 'request' | 'accept' | 'protobuf'> {
  readonly kind: ShownKind;
}

/** The `metadata` of a list, once its last page is known. */
type ListMetadata = (last: SelectedPage) => object;

/**
 * Answers with pages as one list, in the requested representation. One page is sent whole; several are sent while they
 * are read, so that none is held longer than its reader needs, and `metadata`, which depends on the last page, comes at
 * the end. An error between two pages cuts the answer off.
 */
export async function respondWithList(
  context: RegistryContext,
  call: ListCall,
  pages: PageSource,
  metadataOf: ListMetadata,
): Promise<ApiResponse> {
  const room = await call.request.reserve(FIRST_PAGE_ROOM);
  call.request.onClose(() => room.release());
  try {
    const first = await pages.next();
    if (!first) throw new Error('a list has no page');
    const { format } = call.accept;
    if (format === 'protobuf') return await respondInProtobuf(call, pages, first, metadataOf);
    if (first.isLast && format === 'yaml')
      return { ...ok(present(context, call, itemsOf(first), metadataOf(first))), room };
    const partsOf = (page: SelectedPage): ListParts => listParts(context, call, page, metadataOf(page));
    if (first.isLast)
      return { status: 200, raw: wholeText(partsOf(first)), contentType: `application/${format}`, room };
    const stream = new ListText(call, partsOf, pages, styleOf(call), partsOf(first), room);
    return { status: 200, stream, contentType: `application/${format}`, isWhole: true };
  } catch (error) {
    room.release();
    throw error;
  }
}

const PARTIAL = 'io.k8s.api.core.v1.Binding';

/**
 * The same as one message. Its length comes before its items, so that all of them are held until it is sent; a message is a good
 * deal shorter than its objects.
 */
async function respondInProtobuf(
  call: ListCall,
  pages: PageSource,
  first: SelectedPage,
  metadataOf: ListMetadata,
): Promise<ApiResponse> {
  const { accept, kind, protobuf, request } = call;
  if (accept.as === 'PartialObjectMetadata') throw listNotAcceptable(listTypeOf(kind));
  if (!protobuf) throw notAcceptable();
  const isPartial = accept.as !== undefined;
  const head = isPartial
    ? { apiVersion: `meta.k8s.io/${accept.metaVersion}`, kind: 'PartialObjectMetadataList' }
    : headOf(call);
  const items: Buffer[] = [];
  let last = first;
  for (let page: SelectedPage | undefined = first; page; page = await pages.next()) {
    last = page;
    const made = page.items.map(({ object }) =>
      isPartial
        ? protobuf.item({ metadata: object.metadata }, PARTIAL)
        : protobuf.item(object, kind.schema ?? ''),
    );
    const room = await request.reserve(made.reduce((length, { length: more }) => length + more, 0));
    request.onClose(() => room.release());
    items.push(...made);
    if (page.isLast) break;
  }
  const raw = protobuf.list(head, metadataOf(last), items);
  return { status: 200, raw, contentType: PROTOBUF_MEDIA_TYPE };
}

function present(
  context: RegistryContext,
  call: ListCall,
  items: readonly UnstructuredObject[],
  metadata: object,
): object {
  const { kind } = call;
  const list = { ...headOf(call), metadata, items };
  return presentList(list, kind, call, context.clock.now());
}

function headOf({ kind }: ListCall): { readonly kind: string; readonly apiVersion: string } {
  return { kind: kind.listKind, apiVersion: apiVersionOf(kind.type) };
}

function itemsOf(page: SelectedPage): readonly UnstructuredObject[] {
  return page.items.map(({ object }) => object);
}

/**
 * The text of a list whose first page has been read. Each piece releases what it was made from. The room of the first page is
 * released before the list waits for that of further pages.
 */
class ListText implements AsyncIterableIterator<string> {
  private entries: ListParts['entries'];
  /** The first of `entries` that has not been sent. */
  private position = 0;
  private metadata: unknown;
  private readonly frame: ListFrame;
  private hasEntries = false;
  private lastLength = 0;
  private isFirstPage = true;
  private isAtEnd = false;

  constructor(
    private readonly call: ListCall,
    private readonly partsOf: (page: SelectedPage) => ListParts,
    private readonly pages: PageSource,
    private readonly style: ListStyle,
    { entries, frame, metadata }: ListParts,
    private room: Reservation,
  ) {
    this.entries = entries;
    this.metadata = metadata;
    this.frame = frame;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    if (this.isAtEnd) return this.return();
    this.room.progress(this.lastLength);
    try {
      const piece = await this.nextPiece();
      this.lastLength = piece.length;
      return { done: false, value: piece };
    } catch (error) {
      this.room.release();
      throw error;
    }
  }

  return(): Promise<IteratorResult<string, undefined>> {
    this.isAtEnd = true;
    this.room.release();
    return Promise.resolve({ done: true, value: undefined });
  }

  private async nextPiece(): Promise<string> {
    while (this.position >= this.entries.length) {
      if (await this.readPage()) continue;
      this.isAtEnd = true;
      const { frame, hasEntries, metadata, style } = this;
      return hasEntries ? style.closing(frame, metadata) : style.empty(frame, metadata);
    }
    return this.takePiece();
  }

  private takePiece(): string {
    let piece = '';
    while (this.position < this.entries.length && piece.length < PIECE_LENGTH) {
      piece += this.hasEntries ? this.style.between : this.style.opening(this.frame);
      piece += this.entries[this.position++]!();
      this.hasEntries = true;
    }
    return piece;
  }

  private async readPage(): Promise<boolean> {
    this.entries = [];
    this.position = 0;
    if (this.isFirstPage) await this.takeRoomForPages();
    const page = await this.pages.next();
    if (!page) return false;
    ({ entries: this.entries, metadata: this.metadata } = this.partsOf(page));
    return true;
  }

  private async takeRoomForPages(): Promise<void> {
    this.isFirstPage = false;
    this.room.release();
    const { request } = this.call;
    const room = await request.reserve(PAGE_ROOM);
    request.onClose(() => room.release());
    this.room = room;
  }
}

interface ListParts {
  readonly metadata: unknown;
  /** Each makes its text when it is sent. */
  readonly entries: readonly (() => string)[];
  readonly frame: ListFrame;
}

/** The parts of a page; where its objects are wanted as they are stored, nothing is parsed. */
function listParts(
  context: RegistryContext,
  call: ListCall,
  page: SelectedPage,
  metadata: object,
): ListParts {
  const { as, format } = call.accept;
  const style = styleOf(call);
  if (as === undefined) {
    const entries = page.items.map(
      (state) => () => (format === 'json' && state.json?.asItem()) || style.entry(itemOf(state.object)),
    );
    return { metadata, entries, frame: { head: { ...headOf(call) }, field: 'items' } };
  }
  const list = present(context, call, itemsOf(page), metadata) as ShownList;
  const { metadata: shown, ...fields } = list;
  const field = fields.rows ? 'rows' : 'items';
  const { [field]: entries = [], ...head } = fields;
  return {
    metadata: shown,
    entries: entries.map((entry) => () => style.entry(entry)),
    frame: { head, field, ...(isNullWhenEmpty(call) && { empty: 'null' as const }) },
  };
}

/** A list in Go that is appended to, and not made beforehand: of metadata, and of rows that no printer makes. */
function isNullWhenEmpty({ accept, kind }: ListCall): boolean {
  return accept.as !== 'Table' || kind.columns.at(-1)?.name === 'Created At';
}

interface ShownList {
  readonly metadata?: unknown;
  readonly items?: unknown[];
  readonly rows?: unknown[];
}

function styleOf({ accept: { format } }: ListCall): ListStyle {
  return format === 'yaml' ? LIST_STYLES.yaml : LIST_STYLES.json;
}

function wholeText({ entries, frame: { empty, field, head }, metadata }: ListParts): string {
  const texts = entries.map((entry) => entry()).join(',');
  const list = entries.length === 0 ? (empty ?? '[]') : `[${texts}]`;
  return `${stringifyJson({ ...head, metadata }).slice(0, -1)},"${field}":${list}}`;
}
