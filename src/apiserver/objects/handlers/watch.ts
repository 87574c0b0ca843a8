import { qualifiedResource, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { expired, internalError, notAcceptable, StatusError } from '../../schema/errors/index.js';
import type { ApiResponse } from '../../http/index.js';
import { translateStoreFailure } from '../registry/index.js';
import { PROTOBUF_MEDIA_TYPE } from '../../http/protobuf/decode-protobuf.js';
import type { ProtobufAnswers } from '../../http/protobuf/protobuf-answers.js';
import type { RegistryContext } from '../registry/index.js';
import { parseSelection, parseShardSelector } from '../../kinds/selectors/index.js';
import type { Selection, ShardSelector } from '../../kinds/selectors/index.js';
import { lengthOfEvent, StorageExpiredError } from '../../storage/index.js';
import type { StorageEvent, StorageWatchOptions } from '../../storage/index.js';
import { presentObject } from '../../http/table.js';
import type { SharedEvent } from '../registry/shared-events.js';
import { decideWireEvent } from './decide-wire-event.js';
import type { WireEvent } from './decide-wire-event.js';
import type { ResourceCall } from './handler.js';
import { listPages, PAGE_ROOM } from './list-pages.js';
import { checkListOptions, parseInteger } from './list-options.js';
import { initialEventsEnd, watchStart } from './watch-start.js';
import type { WatchStart } from './watch-start.js';

/** Default duration of a watch, seconds, plus up to as much again. */
const DEFAULT_TIMEOUT_SECONDS = 1800;
/** Interval of bookmarks on a quiet watch. The genuine server's is a minute. */
const BOOKMARK_INTERVAL_MS = 15_000;

/** Approximate number of characters of events that are made and sent together. */
const PIECE_LENGTH = 64 * 1024;

/** Media types of a stream of events. */
const STREAMED: readonly string[] = ['application/json;stream=watch', `${PROTOBUF_MEDIA_TYPE};stream=watch`];

const WIRE_TYPES = { created: 'ADDED', updated: 'MODIFIED', deleted: 'DELETED' } as const;

/** `GET` of a collection with `watch=true`; of a collection or one object below `/api/v1/watch`. */
export async function handleWatch(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { query } = call.request;
  if (call.accept.format === 'yaml') throw notAcceptable(STREAMED);
  checkListOptions(query, { isWatch: true });
  const selection = parseSelection(query, call.kind, call.name);
  const shard = parseShardSelector(query);
  const start = await watchStart(context, query);
  const watched = { selection, shard, start };
  if (call.accept.format === 'protobuf' && call.protobuf) {
    const stream = protobufFrames(call.protobuf, watchEvents(context, call, watched));
    return { status: 200, stream, contentType: `${PROTOBUF_MEDIA_TYPE};stream=watch` };
  }
  const stream = withErrorEvent(watchLines(context, call, watched));
  return { status: 200, stream, contentType: 'application/json' };
}

/** The subject of a watch, and where it begins. */
interface Watched {
  readonly selection: Selection;
  readonly shard: ShardSelector | undefined;
  readonly start: WatchStart;
}

/** First what there is, if the watch begins so, then what happens to it; what happened together in few pieces. */
async function* watchLines(
  context: RegistryContext,
  call: ResourceCall,
  watched: Watched,
): AsyncGenerator<string | Buffer> {
  const present = presenter(context, call);
  const { initialEvents, markEnd } = watched.start;
  let revision = watched.start.after;
  if (initialEvents) revision = yield* initialLines(context, call, watched, present);
  if (markEnd) yield lineOf({ type: 'BOOKMARK', object: present(initialEventsEnd(call, revision)) });
  const bookmarks = call.request.flag('allowWatchBookmarks');
  const { selection, shard } = watched;
  const view: WatchView = { call, selection, bookmarks, present };
  const { signal, release } = timeLimited(context, call);
  try {
    for await (const events of context.storage.watch(watchOptions(call, revision, bookmarks), signal)) {
      yield* eventLines(context, context.events.inShard(events, shard), view);
    }
  } finally {
    release();
  }
}

/** The events of a watch whose client does not read JSON, one by one. */
async function* watchEvents(
  context: RegistryContext,
  call: ResourceCall,
  { selection, shard, start }: Watched,
): AsyncGenerator<WireEvent> {
  const present = presenter(context, call);
  let revision = start.after;
  if (start.initialEvents) {
    const room = await call.request.reserve(PAGE_ROOM);
    try {
      const pages = listPages(context, call, selection, { shard });
      for (let page = await pages.next(); page; page = await pages.next()) {
        revision = page.revision;
        for (const { object } of page.items) yield { type: 'ADDED', object: present(object) };
      }
    } finally {
      room.release();
    }
  }
  if (start.markEnd) yield { type: 'BOOKMARK', object: present(initialEventsEnd(call, revision)) };
  const bookmarks = call.request.flag('allowWatchBookmarks');
  const { signal, release } = timeLimited(context, call);
  try {
    for await (const events of context.storage.watch(watchOptions(call, revision, bookmarks), signal)) {
      for (const event of context.events.inShard(events, shard)) {
        const length = lengthOfEvent(event);
        const room = call.request.tryReserve(length) ?? (await call.request.reserve(length));
        try {
          const shared = context.events.of(event).event;
          const wire = decideWireEvent(shared, selection, bookmarks ? call : undefined);
          if (wire) yield { type: wire.type, object: present(wire.object) };
        } finally {
          room.release();
        }
      }
    }
  } finally {
    release();
  }
}

async function* protobufFrames(
  protobuf: ProtobufAnswers,
  events: AsyncGenerator<WireEvent>,
): AsyncGenerator<Buffer> {
  const frameOf = ({ object, type }: WireEvent): Buffer => {
    const frame = protobuf.event(type, object);
    if (frame) return frame;
    throw internalError('the object of an event has no message');
  };
  try {
    for await (const event of events) yield frameOf(event);
  } catch (error) {
    yield frameOf({ type: 'ERROR', object: watchFailure(error).status });
  }
}

/** Page by page, so that a client that reads slowly holds one page only. Returns the revision that they show. */
async function* initialLines(
  context: RegistryContext,
  call: ResourceCall,
  { selection, shard }: Watched,
  present: ReturnType<typeof presenter>,
): AsyncGenerator<string, number, undefined> {
  const room = await call.request.reserve(PAGE_ROOM);
  let revision = 0;
  try {
    const pages = listPages(context, call, selection, { shard });
    for (let page = await pages.next(); page; page = await pages.next()) {
      revision = page.revision;
      let lines = '';
      for (const state of page.items) {
        const json = call.accept.as === undefined ? state.json?.whole() : undefined;
        lines += textLineOf('ADDED', json ?? stringifyJson(present(state.object)));
        if (lines.length < PIECE_LENGTH) continue;
        yield lines;
        room.progress(lines.length);
        lines = '';
      }
      if (lines !== '') yield lines;
      room.progress(lines.length);
    }
    return revision;
  } finally {
    room.release();
  }
}

/** Encodes events only once there is room for them. The room is released when the client has read them. */
async function* eventLines(
  context: RegistryContext,
  events: readonly StorageEvent[],
  view: WatchView,
): AsyncGenerator<string | Buffer> {
  const { request } = view.call;
  for (let from = 0; from < events.length;) {
    const { length, to } = pieceOf(events, from);
    const room = request.tryReserve(length) ?? (await request.reserve(length));
    try {
      const piece = linesOf(context, events.slice(from, to), view);
      if (piece.length > 0) yield piece;
    } finally {
      room.release();
    }
    from = to;
  }
}

/** Up to which event a piece goes, and how many characters that is about; a large event is a piece of its own. */
function pieceOf(
  events: readonly StorageEvent[],
  from: number,
): { readonly to: number; readonly length: number } {
  let length = lengthOfEvent(events[from]!);
  let to = from + 1;
  while (to < events.length && length + lengthOfEvent(events[to]!) <= PIECE_LENGTH) {
    length += lengthOfEvent(events[to++]!);
  }
  return { to, length };
}

function linesOf(
  context: RegistryContext,
  events: readonly StorageEvent[],
  view: WatchView,
): string | Buffer {
  const [first] = events;
  if (first && lengthOfEvent(first) > PIECE_LENGTH) return encodeLarge(context.events.of(first), view);
  let lines = '';
  for (const event of events) lines += encode(context.events.of(event), view);
  return lines;
}

/** How one client sees what happens. */
interface WatchView {
  readonly call: ResourceCall;
  readonly selection: Selection;
  readonly bookmarks: boolean;
  readonly present: ReturnType<typeof presenter>;
}

/** Empty for an object outside of the client's selection. */
function encode(shared: SharedEvent, view: WatchView): string {
  const { event } = shared;
  const { call, selection, bookmarks, present } = view;
  if (seesAll(view) && event.type !== 'progress') return shared.line(WIRE_TYPES[event.type]);
  const wire = decideWireEvent(event, selection, bookmarks ? call : undefined);
  if (!wire) return '';
  const object = present(wire.object);
  const isOwn = event.type !== 'progress' && object === event.object;
  return isOwn ? shared.line(wire.type) : lineOf({ type: wire.type, object });
}

/** The same of an event whose line is too long for every watcher to have its own. */
function encodeLarge(shared: SharedEvent, view: WatchView): string | Buffer {
  const { event } = shared;
  if (event.type === 'progress' || !seesAll(view)) return encode(shared, view);
  return shared.lineBytes(WIRE_TYPES[event.type]);
}

/** No filtering or conversion needed: send stored bytes. */
function seesAll({ call, selection }: WatchView): boolean {
  return selection.all && call.accept.as === undefined;
}

function watchOptions(call: ResourceCall, after: number, bookmarks: boolean): StorageWatchOptions {
  const { namespace } = call;
  return {
    resource: qualifiedResource(call.kind.type),
    ...(call.kind.type.namespaced && namespace !== '' && { namespace }),
    after,
    reserve: (length) => call.request.reserve(length),
    ...(bookmarks && { progressIntervalMs: BOOKMARK_INTERVAL_MS }),
  };
}

/** Presents objects in the requested representation; a Table's columns are only sent once. */
function presenter(context: RegistryContext, call: ResourceCall) {
  let first = true;
  return (object: UnstructuredObject): object => {
    const view = presentObject(object, call.kind, call, context.clock.now(), {
      columns: first,
    });
    first = false;
    return view;
  };
}

/** Ends when the client goes, the server stops, or the time that was agreed on is over. */
function timeLimited(
  context: RegistryContext,
  call: ResourceCall,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const asked = parseInteger(call.request.query, 'timeoutSeconds') ?? 0;
  const seconds = asked > 0 ? asked : DEFAULT_TIMEOUT_SECONDS * (1 + context.random.next());
  const controller = new AbortController();
  const end = (): void => controller.abort();
  const timer = context.clock.setTimeout(end, seconds * 1000);
  call.request.signal.addEventListener('abort', end, { once: true });
  if (call.request.signal.aborted) end();
  return {
    signal: controller.signal,
    release: () => {
      timer.cancel();
      call.request.signal.removeEventListener('abort', end);
      end();
    },
  };
}

/** A watch that has begun can refuse only by an event. */
async function* withErrorEvent(lines: AsyncGenerator<string | Buffer>): AsyncGenerator<string | Buffer> {
  try {
    yield* lines;
  } catch (error) {
    yield lineOf({ type: 'ERROR', object: watchFailure(error).status });
  }
}

function watchFailure(error: unknown): StatusError {
  if (error instanceof StorageExpiredError) {
    return expired(`too old resource version: ${error.revision}`);
  }
  const translated = translateStoreFailure(error);
  return translated instanceof StatusError ? translated : internalError('the watch broke', error);
}

function lineOf({ object, type }: WireEvent): string {
  return textLineOf(type, stringifyJson(object));
}

function textLineOf(type: WireEvent['type'], json: string): string {
  return `{"type":"${type}","object":${json}}\n`;
}
