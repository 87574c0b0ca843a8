import protobuf from 'protobufjs/minimal.js';
import { exactInteger } from '../../kubernetes/index.js';
import type { Int64 } from '../../kubernetes/index.js';
import { badRequest, unsupportedMediaType } from '../errors/index.js';
import { layoutOf } from './message-layouts.js';
import type { FieldLayout, FieldShape } from './message-layouts.js';

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

const MAGIC = Buffer.from('k8s\0');
const BYTES = 2;

type JsonObject = Record<string, unknown>;

/**
 * Reads an object in the protobuf encoding of the Kubernetes API into its JSON form: an envelope
 * (`runtime.Unknown`) behind four magic bytes, then the message. kubectl's typed commands send their bodies so.
 * @throws StatusError 400 for bytes that are none, 415 for messages and fields that we have not got, naming them
 */
export function decodeProtobuf(body: Buffer): JsonObject {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw badRequest(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  try {
    const { apiVersion, kind, raw } = readEnvelope(protobuf.Reader.create(body.subarray(MAGIC.length)));
    return { apiVersion, kind, ...readMessage(protobuf.Reader.create(raw), kind) };
  } catch (error) {
    if (error instanceof RangeError) throw badRequest('the protobuf message is cut short', error);
    throw error;
  }
}

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
}

function readEnvelope(reader: protobuf.Reader): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: new Uint8Array() };
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) Object.assign(envelope, readTypeMeta(protobuf.Reader.create(reader.bytes())));
    else if (tag >>> 3 === 2) envelope.raw = reader.bytes();
    else reader.skipType(tag & 7);
  }
  return envelope;
}

function readTypeMeta(reader: protobuf.Reader): { apiVersion: string; kind: string } {
  const meta = { apiVersion: '', kind: '' };
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) meta.apiVersion = reader.string();
    else if (tag >>> 3 === 2) meta.kind = reader.string();
    else reader.skipType(tag & 7);
  }
  return meta;
}

function readMessage(reader: protobuf.Reader, name: string): JsonObject {
  const layout = layoutOf(name);
  if (!layout) throw notUnderstood(name);
  const result: JsonObject = {};
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const field = layout[tag >>> 3];
    if (!field) skipEmpty(reader, tag, name);
    else if (field.shape === 'ignored') reader.skipType(tag & 7);
    else readField(reader, field, result);
  }
  return result;
}

/** A field that we have not got may stand there as long as it says nothing. */
function skipEmpty(reader: protobuf.Reader, tag: number, name: string): void {
  const empty = (tag & 7) === BYTES ? reader.bytes().length === 0 : readInt64(reader) === 0;
  if (!empty) throw notUnderstood(`field ${tag >>> 3} of ${name}`);
}

function readField(reader: protobuf.Reader, field: FieldLayout, into: JsonObject): void {
  const { name, shape } = field;
  if (shape === 'stringMap' || shape === 'quantityMap') {
    const map = (into[name] ??= {}) as JsonObject;
    const [key, value] = readEntry(protobuf.Reader.create(reader.bytes()), shape);
    map[key] = value;
    return;
  }
  const value = readValue(reader, shape, field.repeated === true);
  if (value === undefined) return;
  if (field.repeated) ((into[name] ??= []) as unknown[]).push(value);
  else into[name] = value;
}

/** @returns undefined for the zero value of a field that is no pointer */
function readValue(reader: protobuf.Reader, shape: FieldShape, keepZero: boolean): unknown {
  if (typeof shape === 'object') return readMessage(protobuf.Reader.create(reader.bytes()), shape.message);
  switch (shape) {
    case 'string': {
      const text = reader.string();
      return text === '' && !keepZero ? undefined : text;
    }
    case 'int':
      return readInt64(reader) || undefined;
    case 'int?':
      return readInt64(reader);
    case 'bool':
      return reader.bool() || undefined;
    case 'bool?':
      return reader.bool();
    case 'time':
      return readTime(protobuf.Reader.create(reader.bytes()));
    case 'intOrString':
      return readIntOrString(protobuf.Reader.create(reader.bytes()));
    default:
      return readQuantity(protobuf.Reader.create(reader.bytes()));
  }
}

function readInt64(reader: protobuf.Reader): Int64 {
  const { high, low } = reader.int64();
  return exactInteger((BigInt(high) << 32n) + BigInt(low >>> 0));
}

function readEntry(reader: protobuf.Reader, shape: 'stringMap' | 'quantityMap'): [string, unknown] {
  let key = '';
  let value: unknown = '';
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) key = reader.string();
    else
      value = shape === 'stringMap' ? reader.string() : readQuantity(protobuf.Reader.create(reader.bytes()));
  }
  return [key, value];
}

function readQuantity(reader: protobuf.Reader): string {
  let text = '';
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) text = reader.string();
    else reader.skipType(tag & 7);
  }
  return text;
}

function readTime(reader: protobuf.Reader): string | undefined {
  let seconds: number | undefined;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) seconds = Number(reader.int64());
    else reader.skipType(tag & 7);
  }
  return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString().replace('.000', '');
}

function readIntOrString(reader: protobuf.Reader): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) isText = Number(reader.int64()) === 1;
    else if (tag >>> 3 === 2) number = reader.int32();
    else if (tag >>> 3 === 3) text = reader.string();
    else reader.skipType(tag & 7);
  }
  return isText ? text : number;
}

function notUnderstood(what: string): Error {
  return unsupportedMediaType(`${PROTOBUF_MEDIA_TYPE}: ${what} is not supported in this encoding`, [
    'application/json',
    'application/yaml',
  ]);
}
