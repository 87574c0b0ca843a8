import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Json, JsonObject } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';

export interface ReadAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** As it came. */
  readonly bytes: Buffer;
}

export interface SentRequest {
  readonly headers?: OutgoingHttpHeaders;
  /** An object goes as JSON. */
  readonly body?: JsonObject | string | Buffer;
}

/** The server and the user of requests. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

export async function get(
  target: Target,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<ReadAnswer> {
  return send(target, 'GET', path, { headers });
}

/** The beginning of an answer that does not end by itself: the connection is closed when its headers are there. */
export function getHead(
  target: Target,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Pick<ReadAnswer, 'status' | 'headers'>> {
  return new Promise((resolve, reject) => {
    const sent = request(target, 'GET', path, headers, (response) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
      response.destroy();
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Sends a request as it is written: neither the path nor the method is tidied up. */
export function send(
  target: Target,
  method: string,
  path: string,
  { body, headers }: SentRequest = {},
): Promise<ReadAnswer> {
  const isObject = isJsonObject(body) && !Buffer.isBuffer(body);
  const bytes = isObject
    ? Buffer.from(stringifyJson(body))
    : body === undefined
      ? undefined
      : Buffer.from(body as Buffer);
  const all: OutgoingHttpHeaders = {
    ...(isObject && { 'content-type': 'application/json' }),
    ...(bytes && { 'content-length': bytes.length }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(target, method, path, all, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const whole = Buffer.concat(parts);
        const { headers: answered, statusCode = 0 } = response;
        resolve({ status: statusCode, headers: answered, bytes: whole, text: whole.toString('utf8') });
      });
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

function request(
  { token, url }: Target,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders,
  onAnswer: (response: IncomingMessage) => void,
): ClientRequest {
  const { hostname, port } = new URL(url);
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` };
  return httpRequest({ hostname, port, method, path, headers: { ...authorization, ...headers } }, onAnswer);
}

/** An answer in the form of the recording: of objects that are no Status, only what they are. */
export function shownAnswer({ headers, status, text }: ReadAnswer): JsonObject {
  return { code: status, type: headers['content-type'] ?? null, body: shownBody(text) };
}

function shownBody(text: string): Json {
  if (!text.startsWith('{')) return text;
  const body = parseJson(text) as JsonObject;
  return body.kind === 'Status' ? body : { apiVersion: body.apiVersion, kind: body.kind };
}

/** The value at a path of fields; undefined if there is none. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
}

export function textAt(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = objectAt(value, ...path);
  return Array.isArray(found) ? (found as readonly Json[]) : [];
}
