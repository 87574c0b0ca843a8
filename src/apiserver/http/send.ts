import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { StatusError } from '../schema/errors/index.js';
import type { ApiRequest } from './api-request.js';
import { plainText } from './api-response.js';
import type {
  ApiResponse,
  ObjectResponse,
  RawResponse,
  StreamResponse,
  UpgradeResponse,
} from './api-response.js';
import { PROTOBUF_MEDIA_TYPE } from './protobuf/decode-protobuf.js';
import type { Format } from './negotiate.js';
import { PrettyJson } from './pretty-json.js';
import { yamlText } from './yaml-writer.js';

/** Characters of all texts beyond which each of them is cut, and of each one then; those of the genuine server. */
const MAX_TOTAL = 4 * 1024;
const MAX_CUT = 256;

/** Characters that a header cannot hold. */
const CONTROL = /\p{Cc}/u;

/**
 * The values of the `Warning` headers (RFC 7234, code 299) for these texts. As in the genuine server each is sent once,
 * excess is cut off, and a text with a control character is omitted. Never fails.
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const shown = [...new Set(texts)].filter((text) => text !== '' && !CONTROL.test(text));
  const total = shown.reduce((length, text) => length + text.length, 0);
  return (total <= MAX_TOTAL ? shown : cut(shown)).map(headerOf);
}

/** Until they are as much as all may be together. */
function cut(texts: readonly string[]): string[] {
  const few: string[] = [];
  let total = 0;
  for (const text of texts) {
    if (total >= MAX_TOTAL) break;
    const short = [...text.slice(0, 2 * MAX_CUT)].slice(0, MAX_CUT).join('');
    total += short.length;
    few.push(short);
  }
  return few;
}

/** Node takes a character for a byte, clients read UTF-8. */
function headerOf(text: string): string {
  const quoted = text.toWellFormed().replace(/["\\]/g, (sign) => `\\${sign}`);
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}

/** Answers below this many bytes are not worth compressing (the genuine server's threshold). */
const GZIP_FROM_BYTES = 128 * 1024;
/** Answers below this many bytes find room in the system's own buffers. */
const SMALL_BYTES = 64 * 1024;
/** The size of the parts in which an answer is handed to the system. */
const PART_BYTES = 32 * 1024;

const JSON_TYPE = 'application/json';

const gzipAsync = promisify(gzip);

interface SendOptions {
  readonly format: Format;
  /** The message of a body; undefined for what has none, which is written as JSON. @default nothing has one */
  readonly toProtobuf?: (body: object) => Buffer | undefined;
  readonly acceptsGzip: boolean;
  /** JSON is indented, for people. @default false */
  readonly isPretty?: boolean;
  /** The headers of every answer. @default those that are the same for all requests */
  readonly common?: OutgoingHttpHeaders;
}

const FLOW_SCHEMA = 'b7f3e5d2-43c1-4a5e-9f0c-2d7c1f6b8a90';
const PRIORITY_LEVEL = '0f6f9d36-6d0f-4f5b-8c50-9e1f3c5e7ab4';
const AUDIT_ID = /^[\x21-\x7e]{1,64}$/;

/**
 * The headers of every answer: the id of the request (the client's own, if it sent one), that it is not to be kept, and
 * by which limits it was let in. Ours are the same for all requests; clients take the values for opaque.
 */
export function commonHeaders(auditId: string | string[] | undefined): OutgoingHttpHeaders {
  return {
    'Audit-Id': typeof auditId === 'string' && AUDIT_ID.test(auditId) ? auditId : randomUUID(),
    'Cache-Control': 'no-cache, private',
    'X-Kubernetes-Pf-Flowschema-Uid': FLOW_SCHEMA,
    'X-Kubernetes-Pf-Prioritylevel-Uid': PRIORITY_LEVEL,
  };
}

type Requester = Pick<ApiRequest, 'reserve' | 'onClose' | 'warned'>;

/** Writes an answer; resolves when it has been handed to the socket. */
export async function send(
  request: Requester,
  response: ServerResponse,
  answer: Exclude<ApiResponse, UpgradeResponse>,
  options: SendOptions,
): Promise<void> {
  warn(response, request.warned);
  if ('stream' in answer) return sendStream(response, answer, options);
  const whole = 'raw' in answer ? answer : rawOf(answer, options);
  return sendWhole(request, response, options.isPretty ? indented(whole) : whole, options);
}

function indented(answer: RawResponse): RawResponse {
  if (answer.contentType !== JSON_TYPE || answer.status === 304) return answer;
  return { ...answer, raw: new PrettyJson().write(answer.raw.toString()) };
}

function warn(response: ServerResponse, texts: readonly string[]): void {
  const headers = texts.length === 0 ? [] : warningHeaders(texts);
  if (headers.length > 0) response.setHeader('Warning', headers);
}

interface RefusalOptions extends Pick<SendOptions, 'format' | 'toProtobuf' | 'common' | 'isPretty'> {
  /** Texts of warnings. @default none */
  readonly warned?: readonly string[];
}

/** Writes a refusal. @param options how the client wants it. @default JSON */
export function sendError(
  response: ServerResponse,
  error: StatusError,
  options: RefusalOptions = { format: 'json' },
): void {
  const { contentType, headers, raw, status } = refusalOf(error, options);
  // An answer that failed halfway may have left some.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  warn(response, options.warned ?? []);
  response.writeHead(status, {
    ...(options.common ?? commonHeaders(undefined)),
    'Content-Type': contentType,
    'Content-Length': typeof raw === 'string' ? Buffer.byteLength(raw) : raw.length,
    ...headers,
  });
  response.end(raw);
}

/** The text of a refusal, and the headers that only refusals have. */
export function refusalOf({ page, status }: StatusError, options: RefusalOptions): RawResponse {
  if (page !== undefined) return plainText(status.code, page);
  const { code, details } = status;
  const seconds = details?.retryAfterSeconds;
  const headers = seconds !== undefined && seconds > 0 && { headers: { 'Retry-After': String(seconds) } };
  const answer = { status: code, ...encoded(status, options), ...headers };
  return options.isPretty ? indented(answer) : answer;
}

/** An answer in the form that its client reads. */
export function rawOf(
  { body, room, status }: ObjectResponse,
  options: Pick<SendOptions, 'format' | 'toProtobuf'>,
): RawResponse {
  return { status, ...encoded(body, options), room };
}

function encoded(
  body: object,
  { format, toProtobuf }: Pick<SendOptions, 'format' | 'toProtobuf'>,
): { readonly raw: string | Buffer; readonly contentType: string } {
  const message = format === 'protobuf' ? toProtobuf?.(body) : undefined;
  if (message) return { raw: message, contentType: PROTOBUF_MEDIA_TYPE };
  if (format === 'yaml') return { raw: yamlText(body), contentType: 'application/yaml' };
  return { raw: stringifyJson(body), contentType: JSON_TYPE };
}

async function sendWhole(
  request: Requester,
  response: ServerResponse,
  answer: RawResponse,
  options: SendOptions,
): Promise<void> {
  let body = answer.raw;
  const room = answer.room ?? (body.length > SMALL_BYTES ? await request.reserve(body.length) : undefined);
  if (room) request.onClose(() => room.release());
  if (options.acceptsGzip && body.length > GZIP_FROM_BYTES) {
    body = await gzipAsync(body, { level: 1 });
    response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Vary', 'Accept-Encoding');
  }
  if (answer.status === 304) {
    response.writeHead(304, { ...options.common, ...answer.headers }).end();
    return;
  }
  response.writeHead(answer.status, {
    ...options.common,
    'Content-Type': answer.contentType,
    'Content-Length': typeof body === 'string' ? Buffer.byteLength(body) : body.length,
    ...answer.headers,
  });
  if (room) await writeAll(response, body, (length) => room.progress(length));
  response.end(room ? undefined : body);
}

async function sendStream(
  response: ServerResponse,
  answer: StreamResponse,
  { acceptsGzip, common, isPretty }: SendOptions,
): Promise<void> {
  const isCompressed = answer.isWhole === true && acceptsGzip;
  response.writeHead(answer.status, {
    ...common,
    'Content-Type': answer.contentType,
    ...(isCompressed && { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' }),
  });
  response.flushHeaders();
  const isIndented = isPretty === true && answer.isWhole === true && answer.contentType === JSON_TYPE;
  const stream = isIndented ? indentedPieces(answer.stream) : answer.stream;
  if (isCompressed) {
    await pipeline(Readable.from(stream, { highWaterMark: 1 }), createGzip({ level: 1 }), response);
    return;
  }
  const pieces = stream[Symbol.asyncIterator]();
  try {
    while (!response.destroyed && (await sendNext(response, pieces)));
  } finally {
    await pieces.return?.();
  }
  response.end();
}

async function* indentedPieces(pieces: AsyncIterable<string | Buffer>): AsyncGenerator<string> {
  const pretty = new PrettyJson();
  for await (const piece of pieces) yield pretty.write(piece.toString());
}

/**
 * The next piece; false after the last. A separate function, so that no piece is held while the next one is awaited: a
 * watch may wait for hours.
 */
async function sendNext(response: ServerResponse, pieces: AsyncIterator<string | Buffer>): Promise<boolean> {
  const next = await pieces.next();
  if (next.done) return false;
  await writeAll(response, next.value);
  return true;
}

/**
 * In parts, each when the one before has left this process: what a connection holds for a reader that does not read is
 * one part then, in all the forms that it takes on its way, and not the whole.
 */
async function writeAll(
  response: ServerResponse,
  chunk: string | Buffer,
  onWritten?: (length: number) => void,
): Promise<void> {
  const whole = typeof chunk === 'string' && chunk.length > PART_BYTES ? Buffer.from(chunk) : chunk;
  if (typeof whole === 'string') return write(response, whole);
  for (let from = 0; from < whole.length && !response.destroyed; from += PART_BYTES) {
    const part = whole.subarray(from, from + PART_BYTES);
    await write(response, part);
    onWritten?.(part.length);
  }
}

/** Resolves when the part has left this process, or the client has disconnected; leaves no listener behind. */
function write(response: ServerResponse, part: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('close', done);
      resolve();
    };
    response.on('close', done);
    response.write(part, done);
    if (response.destroyed) done();
  });
}
