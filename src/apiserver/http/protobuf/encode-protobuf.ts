import protobuf from 'protobufjs/minimal.js';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import type { ObjectSchema, SchemaRegistry } from '../../schema/index.js';
import { layoutOf } from './message-layouts.js';
import { UNION_FIELDS } from './unions.js';
import { writeIntOrString, writeQuantity, writeTime } from './well-known-messages.js';

const MAGIC = Buffer.from('k8s\0');
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

type Json = Readonly<Record<string, unknown>>;
type Writer = protobuf.Writer;
type Shape = ObjectSchema & { readonly name?: string };

/** A field of a message, or the fields of another message that are written into its owner's JSON. */
type PlannedField =
  | { readonly number: number; readonly property: string; readonly shape: Shape }
  | { readonly number: number; readonly inlined: MessagePlan };
type MessagePlan = readonly PlannedField[];

/** Writes objects in the protobuf encoding of the Kubernetes API. What was planned for a type is kept. */
export class ProtobufEncoder {
  private readonly plans = new Map<string, MessagePlan>();

  constructor(private readonly schemas: SchemaRegistry) {}

  /** Whether there is a message for the type of this schema. */
  knows(schema: string): boolean {
    return layoutOf(schema) !== undefined;
  }

  /**
   * The message of an object. Fields that the type has not, and null, are left out.
   * @param schema name of the object's schema, which has a message
   */
  message(object: Json, schema: string): Buffer {
    const writer = protobuf.Writer.create();
    this.writeFields(writer, object, this.planOf(schema));
    return bufferOf(writer);
  }

  private planOf(name: string): MessagePlan {
    let plan = this.plans.get(name);
    if (!plan) this.plans.set(name, (plan = this.makePlan(name, this.schemas.get(name)?.properties ?? {})));
    return plan;
  }

  private makePlan(name: string, properties: Readonly<Record<string, ObjectSchema>>): MessagePlan {
    return Object.entries(layoutOf(name) ?? {}).flatMap(([key, entry]): PlannedField[] => {
      const number = Number(key);
      if (typeof entry !== 'string') return [{ number, inlined: this.makePlan(entry[0], properties) }];
      const shape = properties[entry];
      return shape ? [{ number, property: entry, shape: this.resolve(shape) }] : [];
    });
  }

  private resolve(shape: ObjectSchema): Shape {
    if (shape.type !== 'ref') return shape;
    return { ...(this.schemas.get(shape.ref ?? '') ?? { type: 'any' }), name: shape.ref };
  }

  private writeFields(writer: Writer, object: Json, plan: MessagePlan): void {
    for (const field of plan) {
      if ('inlined' in field) {
        if (!hasSome(object, field.inlined)) continue;
        writer.uint32(tagOf(field.number, BYTES)).fork();
        this.writeFields(writer, object, field.inlined);
        writer.ldelim();
        continue;
      }
      const value = object[field.property];
      if (value !== undefined && value !== null) this.writeField(writer, field.number, value, field.shape);
    }
  }

  private writeField(writer: Writer, number: number, value: unknown, shape: Shape): void {
    if (shape.type === 'array') {
      const items = this.resolve(shape.items ?? { type: 'any' });
      for (const item of value as readonly unknown[]) this.writeValue(writer, number, item, items);
    } else if (shape.type === 'map') {
      const items = this.resolve(shape.items ?? { type: 'string' });
      for (const [key, item] of Object.entries(value as object).sort(byKey)) {
        writer.uint32(tagOf(number, BYTES)).fork();
        writer.uint32(tagOf(1, BYTES)).string(key);
        this.writeEntry(writer, item, items);
        writer.ldelim();
      }
    } else this.writeValue(writer, number, value, shape);
  }

  /** The value of a map's entry; a list of texts is a message of its own. */
  private writeEntry(writer: Writer, item: unknown, shape: Shape): void {
    if (shape.type !== 'array') {
      this.writeValue(writer, 2, item, shape);
      return;
    }
    writer.uint32(tagOf(2, BYTES)).fork();
    for (const text of (item ?? []) as readonly string[]) writer.uint32(tagOf(1, BYTES)).string(text);
    writer.ldelim();
  }

  private writeValue(writer: Writer, number: number, value: unknown, shape: Shape): void {
    switch (shape.type) {
      case 'integer':
        writer.uint32(tagOf(number, VARINT));
        writeInt64(writer, value as Int64);
        return;
      case 'boolean':
        writer.uint32(tagOf(number, VARINT)).bool(value as boolean);
        return;
      case 'number':
        writer.uint32(tagOf(number, FIXED64)).double(Number(value));
        return;
      case 'string':
        writer.uint32(tagOf(number, BYTES));
        writeText(writer, value as string | number, shape);
        return;
      default:
        writer.uint32(tagOf(number, BYTES)).fork();
        this.writeMessage(writer, value, shape);
        writer.ldelim();
    }
  }

  private writeMessage(writer: Writer, value: unknown, shape: Shape): void {
    if (shape.type === 'object') this.writeFields(writer, value as Json, this.planOf(shape.name ?? ''));
    else if (shape.type === 'union') this.writeUnion(writer, value, shape);
    else writer.uint32(tagOf(1, BYTES)).bytes(Buffer.from(stringifyJson(value)));
  }

  private writeUnion(writer: Writer, value: unknown, { anyOf = [] }: Shape): void {
    const members = anyOf.map((member) => this.resolve(member));
    const jsonType = Array.isArray(value) ? 'array' : typeof value;
    const member = members.find(({ type }) => type === jsonType);
    if (!member) return;
    const numbers = members.some(({ type }) => type === 'boolean')
      ? UNION_FIELDS.orBool
      : UNION_FIELDS.orList;
    // The flag beside a schema says that what the schema describes is allowed.
    if (numbers.boolean !== undefined && jsonType === 'object')
      writer.uint32(tagOf(numbers.boolean, VARINT)).bool(true);
    this.writeField(writer, numbers[jsonType as keyof typeof numbers] ?? 1, value, member);
  }
}

/** The bytes of an object that says what it is, around its message (`runtime.Unknown`). */
export function envelope(
  { apiVersion, kind }: { apiVersion: string; kind: string },
  message: Uint8Array,
): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(tagOf(1, BYTES)).fork();
  writer.uint32(tagOf(1, BYTES)).string(apiVersion);
  writer.uint32(tagOf(2, BYTES)).string(kind);
  writer.ldelim();
  writer.uint32(tagOf(2, BYTES)).bytes(message);
  writer.uint32(tagOf(3, BYTES)).string('');
  writer.uint32(tagOf(4, BYTES)).string('');
  return Buffer.concat([MAGIC, writer.finish()]);
}

/** The message of a list, out of the messages of its parts: every type of list has the same two fields. */
export function listMessage(metadata: Uint8Array, items: readonly Uint8Array[]): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(tagOf(1, BYTES)).bytes(metadata);
  for (const item of items) writer.uint32(tagOf(2, BYTES)).bytes(item);
  return bufferOf(writer);
}

/** An event of a watch: framed by its length, around the object in its envelope. */
export function watchFrame(type: string, object: Uint8Array): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(tagOf(1, BYTES)).string(type);
  writer.uint32(tagOf(2, BYTES)).fork();
  writer.uint32(tagOf(1, BYTES)).bytes(object);
  writer.ldelim();
  const event = writer.finish();
  const frame = Buffer.alloc(4 + event.length);
  frame.writeUInt32BE(event.length);
  frame.set(event, 4);
  return frame;
}

function bufferOf(writer: Writer): Buffer {
  const bytes = writer.finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function tagOf(number: number, wireType: number): number {
  return ((number << 3) | wireType) >>> 0;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function hasSome(object: Json, plan: MessagePlan): boolean {
  return plan.some((field) =>
    'inlined' in field
      ? hasSome(object, field.inlined)
      : object[field.property] !== undefined && object[field.property] !== null,
  );
}

const LOW = 0xffff_ffffn;

function writeInt64(writer: Writer, value: Int64): void {
  if (typeof value === 'number' && value >= 0 && value <= 0xffff_ffff) {
    writer.uint32(value);
    return;
  }
  const bits = BigInt.asUintN(64, BigInt(value));
  const isUnsigned = true;
  // The library's own form of 64 bits.
  writer.uint64({
    low: Number(bits & LOW) | 0,
    high: Number(bits >> 32n) | 0,
    unsigned: isUnsigned,
  });
}

function writeText(writer: Writer, value: string | number, { format, name }: Shape): void {
  switch (format) {
    case 'byte':
      writer.bytes(Buffer.from(String(value), 'base64'));
      return;
    case 'date-time':
      writer.fork();
      writeTime(writer, String(value), name?.endsWith('.MicroTime') ?? false);
      writer.ldelim();
      return;
    case 'quantity':
      writer.fork();
      writeQuantity(writer, String(value));
      writer.ldelim();
      return;
    case 'int-or-string':
      writer.fork();
      writeIntOrString(writer, value);
      writer.ldelim();
      return;
    default:
      writer.string(String(value));
  }
}
