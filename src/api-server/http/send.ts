import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stringify as toYaml } from 'yaml';
import { stringifyJson } from '../../kubernetes/index.js';
import type { StatusError } from '../errors/index.js';
import type { ApiResponse, ObjectResponse, RawResponse, StreamResponse } from './api-response.js';

/** Answers below this many bytes are not worth compressing (the genuine server's threshold). */
const GZIP_FROM_BYTES = 128 * 1024;

const gzipAsync = promisify(gzip);

export interface SendOptions {
  readonly format: 'json' | 'yaml';
  readonly acceptsGzip: boolean;
}

/** Writes an answer; resolves when it has been handed to the socket. */
export async function send(
  response: ServerResponse,
  answer: ApiResponse,
  options: SendOptions,
): Promise<void> {
  if ('stream' in answer) return sendStream(response, answer);
  if ('raw' in answer) return sendRaw(response, answer, options);
  return sendObject(response, answer, options);
}

/** Writes a refusal. */
export function sendError(response: ServerResponse, error: StatusError): void {
  const { status } = error;
  const retryAfter = status.details?.retryAfterSeconds;
  const text = stringifyJson(status);
  response.writeHead(status.code, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...(retryAfter !== undefined && retryAfter > 0 && { 'Retry-After': String(retryAfter) }),
    ...(status.code === 413 && { Connection: 'close' }),
  });
  response.end(text);
}

async function sendObject(
  response: ServerResponse,
  answer: ObjectResponse,
  options: SendOptions,
): Promise<void> {
  const raw = options.format === 'yaml' ? toYaml(answer.body) : stringifyJson(answer.body);
  const headers =
    answer.warnings && answer.warnings.length > 0
      ? { Warning: answer.warnings.map((text) => `299 - ${JSON.stringify(text)}`) }
      : undefined;
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  await sendRaw(
    response,
    { status: answer.status, raw, contentType: `application/${options.format}` },
    options,
  );
}

async function sendRaw(response: ServerResponse, answer: RawResponse, options: SendOptions): Promise<void> {
  let body = answer.raw;
  if (options.acceptsGzip && body.length > GZIP_FROM_BYTES) {
    body = await gzipAsync(body, { level: 1 });
    response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Vary', 'Accept-Encoding');
  }
  if (answer.status === 304) {
    response.writeHead(304, answer.headers).end();
    return;
  }
  response.writeHead(answer.status, {
    'Content-Type': answer.contentType,
    'Content-Length': typeof body === 'string' ? Buffer.byteLength(body) : body.length,
    ...answer.headers,
  });
  response.end(body);
}

/** Waits for a slow reader before asking the source for more; the source's own limit ends readers that stall. */
async function sendStream(response: ServerResponse, answer: StreamResponse): Promise<void> {
  response.writeHead(answer.status, { 'Content-Type': answer.contentType });
  response.flushHeaders();
  for await (const chunk of answer.stream) {
    if (response.destroyed) break;
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

/** Resolves when the client has read on, or has gone; leaves no listener behind. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}
