import protobuf from 'protobufjs/minimal.js';
import { exactInteger, setField } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { badRequest, unsupportedMediaType } from '../../schema/errors/index.js';
import { checkValue, JsonSyntaxError, readJsonText, summaryOfBytes } from '../../schema/index.js';
import type { ObjectSchema, SchemaRegistry } from '../../schema/index.js';
import { layoutOf } from './message-layouts.js';
import { UNION_FIELDS } from './unions.js';
import { readIntOrString, readQuantity, readTime } from './well-known-messages.js';

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

const MAGIC = Buffer.from('k8s\0');
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

type JsonObject = Record<string, unknown>;

/** The type that a body has to follow. */
interface ProtobufTarget {
  readonly schemas: SchemaRegistry;
  /** Name of its schema. */
  readonly schema: string;
}

/**
 * Decodes an object in the protobuf encoding of the Kubernetes API into its JSON form: an envelope (`runtime.Unknown`)
 * after four magic bytes, then the message. kubectl's typed commands send their bodies so. Empty values are kept as
 * sent, to be dropped like those of a JSON body.
 * @throws StatusError 400 for bytes that are none, 415 for messages and fields that we have not got, naming them
 */
export function decodeProtobuf(body: Buffer, target: ProtobufTarget): JsonObject {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw badRequest(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  const struct = target.schema.split('.').at(-1) ?? '';
  const { apiVersion, kind, raw } = readOrRefuse(
    () => readEnvelope(protobuf.Reader.create(body.subarray(MAGIC.length))),
    (fault) =>
      `the object provided is unrecognized (must be of type ${struct}): ${fault} (${summaryOfBytes(body)})`,
  );
  const read = (): JsonObject => {
    const message = new MessageReader(target.schemas).read(protobuf.Reader.create(raw), target.schema);
    checkValue(message);
    return { apiVersion, kind, ...message };
  };
  return readOrRefuse(
    read,
    (fault) => `${kind} in version "${apiVersion}" cannot be handled as a ${struct}: ${fault}`,
  );
}

/** @throws StatusError 400 */
function readOrRefuse<T>(read: () => T, complaint: (fault: string) => string): T {
  try {
    return read();
  } catch (error) {
    throw isFaultOfBytes(error) ? badRequest(complaint(faultText(error)), error) : error;
  }
}

/**
 * Tells whether the library threw for bytes that it cannot make sense of: plain errors, and for missing ones a
 * RangeError.
 */
function isFaultOfBytes(error: unknown): error is Error {
  return error instanceof RangeError || (error instanceof Error && error.constructor === Error);
}

function faultText(error: Error): string {
  return error instanceof RangeError ? 'unexpected EOF' : `proto: ${error.message}`;
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
    if (tag >>> 3 === 1) {
      expectWireType(tag, BYTES, 'TypeMeta');
      Object.assign(envelope, readTypeMeta(protobuf.Reader.create(reader.bytes())));
    } else if (tag >>> 3 === 2) {
      expectWireType(tag, BYTES, 'Raw');
      envelope.raw = reader.bytes();
    } else reader.skipType(tag & 7);
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

/** Layouts have the number of each property, schemas its type. */
class MessageReader {
  constructor(private readonly schemas: SchemaRegistry) {}

  read(reader: protobuf.Reader, name: string): JsonObject {
    const result: JsonObject = {};
    this.readInto(result, reader, name, this.schemas.get(name)?.properties ?? {});
    return result;
  }

  private readInto(
    into: JsonObject,
    reader: protobuf.Reader,
    name: string,
    properties: Readonly<Record<string, ObjectSchema>>,
  ): void {
    const layout = layoutOf(name);
    if (!layout) throw notUnderstood(name.slice(name.lastIndexOf('.') + 1));
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const entry = layout[tag >>> 3];
      if (entry !== undefined && typeof entry !== 'string') {
        expectWireType(tag, BYTES, entry[0]);
        this.readInto(into, protobuf.Reader.create(reader.bytes()), entry[0], properties);
        continue;
      }
      const shape = entry === undefined ? undefined : properties[entry];
      if (entry === undefined || !shape) skipEmpty(reader, tag, entry ?? `field ${tag >>> 3}`, name);
      else this.readField(reader, tag, { into, property: entry, shape: this.resolve(shape) });
    }
  }

  private resolve(shape: ObjectSchema): ObjectSchema & { readonly name?: string } {
    if (shape.type !== 'ref') return shape;
    return { ...(this.schemas.get(shape.ref ?? '') ?? { type: 'any' }), name: shape.ref };
  }

  private readField(
    reader: protobuf.Reader,
    tag: number,
    { into, property, shape }: { into: JsonObject; property: string; shape: ObjectSchema },
  ): void {
    if (shape.type === 'map') {
      expectWireType(tag, BYTES, property);
      const map = (into[property] ??= {}) as JsonObject;
      const { key, value } = this.readEntry(protobuf.Reader.create(reader.bytes()), shape);
      setField(map, key, value);
    } else if (shape.type === 'array') {
      const list = (into[property] ??= []) as unknown[];
      const items = this.resolve(shape.items ?? { type: 'any' });
      if ((tag & 7) === BYTES && wireTypeOf(items) !== BYTES) {
        const packed = protobuf.Reader.create(reader.bytes());
        while (packed.pos < packed.len) list.push(this.readValue(packed, items));
      } else {
        expectWireType(tag, wireTypeOf(items), property);
        list.push(this.readValue(reader, items));
      }
    } else {
      expectWireType(tag, wireTypeOf(shape), property);
      const value = this.readValue(reader, shape);
      if (value !== undefined) into[property] = value;
    }
  }

  private readEntry(reader: protobuf.Reader, { items }: ObjectSchema): { key: string; value: unknown } {
    const shape = this.resolve(items ?? { type: 'string' });
    const entry: { key: string; value: unknown } = { key: '', value: shape.type === 'array' ? [] : '' };
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      expectWireType(tag, tag >>> 3 === 1 ? BYTES : wireTypeOf(shape), 'entry of a map');
      if (tag >>> 3 === 1) entry.key = reader.string();
      else if (shape.type === 'array') entry.value = readTexts(protobuf.Reader.create(reader.bytes()));
      else entry.value = this.readValue(reader, shape);
    }
    return entry;
  }

  /** Reads a value that is one of two things in JSON: a schema, or a boolean or a list in its place. */
  private readUnion(reader: protobuf.Reader, { anyOf = [] }: ObjectSchema): unknown {
    const members = anyOf.map((member) => this.resolve(member));
    const numbers = members.some(({ type }) => type === 'boolean')
      ? UNION_FIELDS.orBool
      : UNION_FIELDS.orList;
    const found: Partial<Record<keyof typeof numbers, unknown>> = {};
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const member = members.find(({ type }) => numbers[type as keyof typeof numbers] === tag >>> 3);
      if (!member) reader.skipType(tag & 7);
      else this.readField(reader, tag, { into: found, property: member.type, shape: member });
    }
    return found.object ?? found.array ?? found.boolean;
  }

  private readValue(reader: protobuf.Reader, shape: ObjectSchema & { readonly name?: string }): unknown {
    switch (shape.type) {
      case 'object':
        return this.read(protobuf.Reader.create(reader.bytes()), shape.name ?? '');
      case 'integer':
        return readInt64(reader);
      case 'number':
        return reader.double();
      case 'boolean':
        return reader.bool();
      case 'any':
        return readRaw(protobuf.Reader.create(reader.bytes()));
      case 'string':
        return readText(reader, shape);
      case 'union':
        return this.readUnion(protobuf.Reader.create(reader.bytes()), shape);
      default:
        throw notUnderstood(shape.name ?? shape.type);
    }
  }
}

function readText(
  reader: protobuf.Reader,
  { format, name }: ObjectSchema & { readonly name?: string },
): unknown {
  switch (format) {
    case 'byte':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'date-time':
      return readTime(protobuf.Reader.create(reader.bytes()), name?.endsWith('.MicroTime') ?? false);
    case 'quantity':
      return readQuantity(protobuf.Reader.create(reader.bytes()));
    case 'int-or-string':
      return readIntOrString(protobuf.Reader.create(reader.bytes()));
    default:
      return reader.string();
  }
}

/** `ExtraValue` and its like: a list of texts that is a message of its own. */
function readTexts(reader: protobuf.Reader): string[] {
  const texts: string[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) texts.push(reader.string());
    else reader.skipType(tag & 7);
  }
  return texts;
}

/** `RawExtension` and `FieldsV1`: JSON inside. */
function readRaw(reader: protobuf.Reader): unknown {
  let raw: unknown;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) raw = parseRaw(Buffer.from(reader.bytes()).toString());
    else reader.skipType(tag & 7);
  }
  return raw;
}

function parseRaw(text: string): unknown {
  try {
    return text === '' ? undefined : readJsonText(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest('the protobuf message carries something that is no JSON', error);
  }
}

function wireTypeOf({ type }: ObjectSchema): number {
  switch (type) {
    case 'integer':
    case 'boolean':
      return VARINT;
    case 'number':
      return FIXED64;
    default:
      return BYTES;
  }
}

/** @throws StatusError 400 in the words of Go's generated decoders */
function expectWireType(tag: number, expected: number, field: string): void {
  if ((tag & 7) !== expected) throw badRequest(`proto: wrong wireType = ${tag & 7} for field ${field}`);
}

/** An unknown field is allowed if it is empty. */
function skipEmpty(reader: protobuf.Reader, tag: number, field: string, message: string): void {
  if (!isEmptyField(reader, tag))
    throw notUnderstood(`${field} of ${message.slice(message.lastIndexOf('.') + 1)}`);
}

function isEmptyField(reader: protobuf.Reader, tag: number): boolean {
  if ((tag & 7) === BYTES) return reader.bytes().length === 0;
  if ((tag & 7) === VARINT) return readInt64(reader) === 0;
  reader.skipType(tag & 7);
  return false;
}

function readInt64(reader: protobuf.Reader): Int64 {
  const { high, low } = reader.int64();
  return exactInteger((BigInt(high) << 32n) + BigInt(low >>> 0));
}

function notUnderstood(what: string): Error {
  return unsupportedMediaType(
    ['application/json', 'application/yaml'],
    `${PROTOBUF_MEDIA_TYPE}: ${what} is not supported in this encoding`,
  );
}
