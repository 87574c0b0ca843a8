import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { WatchEvent } from './api-client.js';
import { WatchErrorEvent } from './api-status-error.js';
import type { StreamingAnswer } from './http-transport.js';
import { dropNulls } from './drop-nulls.js';
import type { ObjectShard } from './object-shard.js';
import { identified, statusErrorOf, toApiStatus } from './parse-response.js';
import { ApiConnectionError, ApiProtocolError } from './transport-errors.js';

/**
 * Limit of a line. etcd's default limit for an object is 1.5 MiB; a line ten times longer means that the stream is not
 * a watch or has no line ends, and it must not fill the memory.
 */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines and only decodes whole lines: no byte of a multi-byte UTF-8 sequence equals a
 * newline, so a character split across two chunks is never decoded in parts. Empty lines are skipped.
 */
export class LineSplitter {
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  /** The lines completed by `chunk`. */
  push(chunk: Uint8Array): string[] {
    const end = chunk.lastIndexOf(NEWLINE);
    const text = end < 0 ? '' : this.complete(chunk.subarray(0, end));
    if (end + 1 < chunk.length) this.keep(chunk.subarray(end + 1));
    return text.split('\n').filter((line) => line !== '');
  }

  /** Whether the stream ended in the middle of a line. */
  get hasPartialLine(): boolean {
    return this.pendingBytes > 0;
  }

  private complete(tail: Uint8Array): string {
    if (this.pendingBytes === 0) return decode(tail);
    const line = Buffer.concat([...this.pending, tail]);
    this.pending = [];
    this.pendingBytes = 0;
    return decode(line);
  }

  private keep(part: Uint8Array): void {
    this.pending.push(part);
    this.pendingBytes += part.length;
    if (this.pendingBytes <= MAX_LINE_BYTES) return;
    this.pending = [];
    throw new ApiProtocolError(`a line longer than ${MAX_LINE_BYTES} bytes`, { tooLarge: true });
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

const MAX_REFUSAL_BYTES = 1024 * 1024;

/** Abort reason when the reader stops; never surfaced. */
const READER_LEFT = new Error('the reader of the watch left');

const DONE = { done: true, value: undefined } as const;

/** Annotation of the bookmark that ends the initial events. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

type BookmarkEvent = Extract<WatchEvent<never>, { type: 'BOOKMARK' }>;

type Next<T> = IteratorResult<WatchEvent<T>, undefined>;

/**
 * The events of a watch, which starts with the first `next`. Ends when the server ends it between two events; leaving
 * early closes the connection. For one reader, who awaits each event before requesting the next.
 *
 * Not a generator: servers send many events in one packet, and a buffered event costs one promise here instead of
 * several microtask turns of nested generators.
 */
export class WatchStream<T extends KubernetesObject> implements AsyncIterableIterator<
  WatchEvent<T>,
  undefined
> {
  private readonly splitter = new LineSplitter();
  /** Buffered lines; those before `position` have been returned. */
  private lines: readonly string[] = [];
  private position = 0;
  private answer: StreamingAnswer | undefined;
  private chunks: AsyncIterator<Uint8Array> | undefined;
  private hasEnded = false;
  /** The server sends objects of other shards as well. */
  private isUnselected = false;

  /**
   * @param isOf the objects' type, which replaces their own. @default their own
   * @param shard leaves out the objects of others, which a server that does not know shards sends; once it has sent one, they are left
   * out before they are parsed. @default all are shown
   */
  constructor(
    private readonly open: () => Promise<StreamingAnswer>,
    private readonly isOf?: Pick<KubernetesObject, 'apiVersion' | 'kind'>,
    private readonly shard?: ObjectShard,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next<T>> {
    // The reader may have paused, and the signal may have aborted in the meantime.
    const isHere = this.position < this.lines.length && this.answer?.scope.signal.aborted === false;
    return isHere ? this.take() : this.read();
  }

  return(): Promise<typeof DONE> {
    this.end();
    return Promise.resolve(DONE);
  }

  private async take(): Promise<Next<T>> {
    try {
      return this.takeLine();
    } catch (error) {
      this.end();
      throw error;
    }
  }

  private async read(): Promise<Next<T>> {
    if (this.hasEnded) return DONE;
    try {
      this.answer ??= await this.begin();
      this.answer.scope.signal.throwIfAborted();
      if (await this.fill(this.answer)) return this.takeLine();
      this.end();
      return DONE;
    } catch (error) {
      if (this.isOver()) return DONE;
      this.end();
      throw error;
    }
  }

  /** Checked again after each wait: the reader may have left in the meantime. */
  private isOver(): boolean {
    return this.hasEnded;
  }

  private async begin(): Promise<StreamingAnswer> {
    const answer = await this.open();
    this.answer = answer;
    // The reader left before there was anything to close.
    if (this.hasEnded) answer.scope.abort(READER_LEFT);
    if (answer.status === 200) return answer;
    throw statusErrorOf({ ...answer.head, text: await explained(answer, beginningOf(answer.body)) });
  }

  /** Waits until a line is available; false when the server has ended the watch. */
  private async fill(answer: StreamingAnswer): Promise<boolean> {
    const chunks = (this.chunks ??= answer.body[Symbol.asyncIterator]());
    while (this.position >= this.lines.length) {
      const chunk = await explained(answer, chunks.next());
      if (chunk.done) {
        if (this.splitter.hasPartialLine)
          throw new ApiConnectionError(`${answer.head.request}: ended within an event`);
        return false;
      }
      answer.scope.touch();
      const lines = this.splitter.push(chunk.value);
      this.lines = this.isUnselected && this.shard ? this.shard.linesOf(lines) : lines;
      this.position = 0;
    }
    return true;
  }

  /** In place of an object of another shard it is a bookmark: the watch has come so far. */
  private takeLine(): Next<T> {
    const line = this.lines[this.position++] ?? '';
    const value = parseEvent<T>(line, this.answer?.head.request ?? '');
    if (value.type !== 'BOOKMARK' && this.shard?.includes(value.object) === false) {
      if (!this.isUnselected) this.leaveOutFromHere(this.shard);
      const { resourceVersion = '' } = value.object.metadata;
      return { done: false, value: { type: 'BOOKMARK', resourceVersion } };
    }
    if (this.isOf && value.type !== 'BOOKMARK') Object.assign(value.object, this.isOf);
    return { done: false, value };
  }

  private leaveOutFromHere(shard: ObjectShard): void {
    this.isUnselected = true;
    this.lines = shard.linesOf(this.lines.slice(this.position));
    this.position = 0;
  }

  private end(): void {
    this.hasEnded = true;
    this.lines = [];
    this.answer?.scope.abort(READER_LEFT);
  }
}

/** A Status is small, and streams have no limit of their own: a long body is cut off. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function explained<R>(answer: StreamingAnswer, read: Promise<R>): Promise<R> {
  try {
    return await read;
  } catch (error) {
    throw answer.explain(error);
  }
}

function parseEvent<T extends KubernetesObject>(line: string, request: string): WatchEvent<T> {
  const { type, object } = parseLine(line, request);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: identified<T>(dropNulls(object, line), `${request}: ${type}`) };
    case 'BOOKMARK':
      return bookmarkOf(object);
    case 'ERROR':
      throw new WatchErrorEvent(toApiStatus(object));
    default:
      throw new ApiProtocolError(`${request}: a watch event of the unknown type ${stringifyJson(type)}`);
  }
}

function bookmarkOf(object: unknown): BookmarkEvent {
  const { metadata }: Partial<KubernetesObject> = object ?? {};
  const { annotations, resourceVersion = '' } = metadata ?? {};
  const endsInitialEvents = annotations?.[INITIAL_EVENTS_END] === 'true';
  return { type: 'BOOKMARK', resourceVersion, ...(endsInitialEvents && { endsInitialEvents }) };
}

function parseLine(line: string, request: string): { type?: unknown; object?: unknown } {
  const refused = (cause?: unknown): ApiProtocolError =>
    new ApiProtocolError(`${request}: not a watch event: ${JSON.stringify(line.slice(0, 200))}`, { cause });
  let event: unknown;
  try {
    event = parseJson(line);
  } catch (error) {
    throw refused(error);
  }
  if (typeof event !== 'object' || event === null) throw refused();
  return event;
}
