import {
  toInt64,
  QUANTITY_SYNTAX,
  canonicalQuantity,
  isJsonObject,
  parseJsonWithFractions,
  roundedUp,
} from '@rollkeeper/machinery/kubernetes';
import type { Int64, WrittenFractions } from '@rollkeeper/machinery/kubernetes';
import type { FieldDecoder } from './field-decoder.js';
import { Base64Error, canonicalBase64 } from './base64.js';
import { noteEmptied } from './emptied-fields.js';
import type { FieldFinding } from './object-schema.js';
import { isResourceField, pruned } from './structural-schema.js';
import type { StructuralSchema } from './structural-schema.js';
import { canonicalMicroTime, canonicalTime, timeSyntax } from './times.js';

/** A value whose type is not allowed at its position; `message` in the words of Go's JSON decoder. */
export class FieldTypeError extends Error {
  /** @param found the value, and what it should have been; absent where another message says it in any case */
  constructor(
    message: string,
    readonly found?: {
      readonly value: unknown;
      readonly field: FieldDecoder;
      /** The error of a type that decodes itself. */
      readonly alone?: string;
    },
  ) {
    super(message);
  }
}

export interface CoerceResult {
  readonly unknown: readonly FieldFinding[];
  /** How many keys the document has, unknown ones included. */
  readonly keys: number;
}

/**
 * Makes a freshly parsed document what decoding into Go types and encoding again would make of it, in place:
 * unknown fields, nulls, and empty optional strings, lists and maps go; quantities and times take their
 * canonical form.
 * @throws FieldTypeError
 */
export function coerce(
  object: Record<string, unknown>,
  decoder: FieldDecoder,
  { empties = 'absent', fractions = NO_FRACTIONS, from = 'json' }: CoerceOptions = {},
): CoerceResult {
  const coercer = new Coercer(decoder, fractions, empties === 'written', from);
  coercer.struct(object, decoder);
  coercer.throwPostponed();
  return coercer;
}

export interface CoerceOptions {
  /** Whole numbers that are no integers, as they are written. @default none */
  readonly fractions?: WrittenFractions;
  /** @default 'absent' */
  readonly empties?: Empties;
  /**
   * `map`: as apimachinery converts a map into a type, without JSON between them. An integer that does not fit loses its upper
   * bits, and a whole fraction is an integer. @default 'json'
   */
  readonly from?: 'json' | 'map';
}

/** A value at its position in a document. */
export interface PlacedValue {
  /** JSON. */
  readonly text: string;
  readonly field: FieldDecoder;
  /** From `root` to the value. */
  readonly path: FieldPath;
  /** Name of the struct that has the field. */
  readonly owner: string;
}

/**
 * Checks a value that does not become part of the object, as if it did.
 * @throws FieldTypeError
 */
export function checkPlaced({ field, owner, path, text }: PlacedValue, root: FieldDecoder): void {
  const { fractions, value } = parseJsonWithFractions(`[${text}]`);
  const coercer = new Coercer(root, fractions, false, 'json', { owner, path });
  coercer.only(value as readonly unknown[], field);
  coercer.throwPostponed();
}

/** Whether what Go writes of empty fields is put there. Lists, times and what else is null has to wait: see `writeEmpties`. */
export type Empties = 'written' | 'absent';

const NO_FRACTIONS: WrittenFractions = new Map();

/** A key of a map, which Go has in the paths of unknown fields alone. */
export interface MapKey {
  readonly key: string;
}

type Path = (string | number | MapKey)[];
type FieldPath = readonly (string | number | MapKey)[];
const INT32_MAX = 2 ** 31 - 1;

const INTEGERS: ReadonlySet<FieldDecoder['kind']> = new Set(['int32', 'int64', 'int-or-string']);

class Coercer implements CoerceResult {
  readonly unknown: FieldFinding[] = [];
  keys = 0;
  private readonly path: Path;
  private owner: string;
  /** The first value of a wrong type, which Go reports at the end, unless a type that decodes itself refuses its value. */
  private postponed: FieldTypeError | undefined;

  constructor(
    private readonly root: FieldDecoder,
    private readonly fractions: WrittenFractions,
    private readonly writesEmpties: boolean,
    private readonly from: 'json' | 'map',
    { owner = '', path = [] }: Partial<Pick<PlacedValue, 'owner' | 'path'>> = {},
  ) {
    this.path = [...path];
    this.owner = owner;
  }

  /** @throws FieldTypeError for the first value of a wrong type */
  throwPostponed(): void {
    if (this.postponed) throw this.postponed;
  }

  /** The only value of a list, which is no list of the document. */
  only(list: readonly unknown[], field: FieldDecoder): void {
    const [value] = list;
    if (value !== null) this.valueIn(list, '0', value, field);
  }

  struct(object: Record<string, unknown>, decoder: FieldDecoder): Record<string, unknown> {
    const outer = this.owner;
    for (const key in object) {
      this.keys++;
      const field = decoder.properties.get(key);
      if (!field) {
        if (decoder.structural) this.structuralField(object, key, decoder.structural);
        else this.dropUnknown(object, key);
        continue;
      }
      this.path.push(key);
      this.owner = decoder.structName;
      const before = object[key];
      const after =
        before === null || before === undefined ? undefined : this.valueIn(object, key, before, field);
      if (after === undefined || (isEmpty(after, field) && !decoder.required.has(key))) {
        if (after !== undefined && typeof after === 'object') noteEmptied(object, key, after);
        delete object[key];
      } else if (after !== before) object[key] = after;
      this.path.pop();
    }
    this.owner = outer;
    if (this.writesEmpties)
      for (const { name, struct, value } of decoder.always)
        if (value !== null && object[name] === undefined)
          object[name] = struct ? this.struct({}, struct) : value;
    return object;
  }

  /** A field as its user described it; its key has been counted. */
  private structuralField(object: Record<string, unknown>, key: string, schema: StructuralSchema): void {
    const below = pruned(schema, key);
    if (below === 'unknown') return this.dropUnknown(object, key);
    if (below === 'anything') {
      this.keys += countOwnKeys(object[key]);
      return;
    }
    this.path.push(key);
    this.structural(object[key], below);
    this.path.pop();
  }

  private structural(value: unknown, schema: StructuralSchema): void {
    if (Array.isArray(value)) {
      const { items } = schema;
      if (!items || typeof items !== 'object') {
        if (schema['x-kubernetes-preserve-unknown-fields']) this.keys += countOwnKeys(value);
        else this.undescribed(value);
      } else
        for (let index = 0; index < value.length; index++) {
          this.path.push(index);
          this.structural(value[index], items);
          this.path.pop();
        }
      return;
    }
    if (!isJsonObject(value)) return;
    for (const key in value) {
      this.keys++;
      if (schema['x-kubernetes-embedded-resource'] && isResourceField(key)) {
        this.keys += countOwnKeys(value[key]);
      } else this.structuralField(value, key, schema);
    }
  }

  /** No field of an object is known in a list that has no description. */
  private undescribed(list: readonly unknown[]): void {
    for (let index = 0; index < list.length; index++) {
      const value = list[index];
      this.path.push(index);
      if (Array.isArray(value)) this.undescribed(value);
      else if (isJsonObject(value))
        for (const key in value) {
          this.keys++;
          this.dropUnknown(value, key);
        }
      this.path.pop();
    }
  }

  private dropUnknown(object: Record<string, unknown>, key: string): void {
    this.path.push(key);
    this.unknown.push({ problem: 'unknown', path: showPath(this.path) });
    this.path.pop();
    this.keys += countOwnKeys(object[key]);
    delete object[key];
  }

  private valueIn(holder: object, key: string, value: unknown, field: FieldDecoder): unknown {
    const written = this.fractions.get(holder)?.get(key);
    if (written !== undefined && INTEGERS.has(field.kind)) {
      return this.mismatch(value, field, `number ${written}`);
    }
    return this.value(value, field);
  }

  private value(value: unknown, field: FieldDecoder): unknown {
    switch (field.kind) {
      case 'object':
        return isJsonObject(value) ? this.struct(value, field) : this.mismatch(value, field);
      case 'array':
        return Array.isArray(value) ? this.list(value, field) : this.mismatch(value, field);
      case 'map':
        return isJsonObject(value) ? this.map(value, field) : this.mismatch(value, field);
      case 'string':
        return typeof value === 'string' ? value : this.mismatch(value, field);
      case 'boolean':
        return typeof value === 'boolean' ? value : this.mismatch(value, field);
      case 'number':
        return this.double(value, field);
      case 'int32':
        return this.int32(value, field);
      case 'int64':
        return this.int64(value, field);
      case 'any':
        this.keys += countOwnKeys(value);
        return this.from === 'map' ? inOrder(value) : value;
      case 'union':
        return this.union(value, field);
      case 'bytes':
        return this.bytes(value, field);
      case 'int-or-string':
        return typeof value === 'string' ? value : this.int32(value, field);
      case 'time':
      case 'micro-time':
        return typeof value === 'string' ? time(value, field) : this.mismatch(value, field);
      default:
        return quantity(value);
    }
  }

  /** Such a type decodes itself, and Go then finds nothing unknown in it. */
  private union(value: unknown, field: FieldDecoder): unknown {
    const { length } = this.unknown;
    const alternative = alternativeFor(value, field);
    if (!alternative) return this.none(field);
    const coerced = this.from === 'map' ? this.decoded(value, alternative) : this.value(value, alternative);
    this.unknown.length = length;
    return coerced;
  }

  /** The converter leaves such a type to its decoder, whose words it repeats. */
  private decoded(value: unknown, alternative: FieldDecoder): unknown {
    const coercer = new Coercer(alternative, this.fractions, this.writesEmpties, 'json');
    coercer.owner = alternative.structName;
    try {
      const decoded = coercer.value(value, alternative);
      coercer.throwPostponed();
      return decoded;
    } catch (error) {
      throw error instanceof FieldTypeError ? new FieldTypeError(error.message) : error;
    } finally {
      this.keys += coercer.keys;
    }
  }

  /** Anything else than a schema or a list counts as an empty one. */
  private none({ anyOf = [] }: FieldDecoder): readonly unknown[] {
    if (anyOf.some(({ kind }) => kind === 'array')) return [];
    throw new FieldTypeError('boolean or JSON schema expected');
  }

  private list(list: unknown[], field: FieldDecoder): unknown[] {
    const items = field.items;
    if (!items) return list;
    for (let index = 0; index < list.length; index++) {
      this.path.push(index);
      list[index] =
        list[index] === null ? zeroOf(items) : this.valueIn(list, String(index), list[index], items);
      this.path.pop();
    }
    return list;
  }

  private map(map: Record<string, unknown>, field: FieldDecoder): Record<string, unknown> {
    const items = field.items;
    if (!items) return map;
    const isOfStructs = items.kind === 'object';
    for (const key in map) {
      this.keys++;
      if (isOfStructs) this.path.push({ key });
      map[key] = map[key] === null ? zeroOf(items) : this.valueIn(map, key, map[key], items);
      if (isOfStructs) this.path.pop();
    }
    if (field.goType === RESOURCE_LIST) for (const key in map) map[key] = thousandths(map[key]);
    return map;
  }

  /** Text in base64, or a list of numbers. */
  private bytes(value: unknown, field: FieldDecoder): string | undefined {
    if (typeof value === 'string') return this.base64(value);
    if (!Array.isArray(value)) return this.mismatch(value, field);
    const one = { ...field, goType: 'uint8' };
    const bytes = value.map((item: unknown) => {
      if (item !== null && !isNumber(item)) {
        this.mismatch(item, one);
        return 0;
      }
      const byte = Number(item);
      if (Number.isInteger(byte) && byte >= 0 && byte <= 255) return byte;
      this.mismatch(item, one, `number ${byte}`);
      return 0;
    });
    return Buffer.from(bytes).toString('base64');
  }

  private double(value: unknown, field: FieldDecoder): number | undefined {
    if (!isNumber(value)) return this.mismatch(value, field);
    const double = Number(value);
    return Number.isFinite(double) ? double : this.mismatch(value, field, `number ${value}`);
  }

  private int32(value: unknown, field: FieldDecoder): number | undefined {
    if (!isNumber(value)) return this.mismatch(value, field);
    if (this.from === 'map') {
      const whole = wholeNumber(value);
      if (whole !== undefined) return Number(BigInt.asIntN(32, whole));
    }
    const fits = Number.isInteger(value) && value <= INT32_MAX && value >= -INT32_MAX - 1;
    return fits ? Number(value) : this.mismatch(value, field, `number ${value}`);
  }

  private int64(value: unknown, field: FieldDecoder): Int64 | undefined {
    const integer = toInt64(value);
    if (integer !== undefined) return integer;
    return this.mismatch(value, field, isNumber(value) ? `number ${value}` : undefined);
  }

  /** A text in base64 that is none is reported as late as a value of a wrong type. */
  private base64(text: string): string | undefined {
    try {
      return canonicalBase64(text);
    } catch (error) {
      if (!(error instanceof Base64Error)) throw error;
      const before = this.from === 'map' ? 'error decoding from json: ' : '';
      return this.postpone(new FieldTypeError(`${before}${error.message}`));
    }
  }

  private mismatch(value: unknown, field: FieldDecoder, what: string = jsonTypeOf(value)): undefined {
    const path = goPath(this.path, this.root);
    const type = scalarTypeOf(field);
    const error = new FieldTypeError(
      `json: cannot unmarshal ${what} into Go struct field ${this.owner}.${path} of type ${type ?? field.goType}`,
      type === undefined
        ? { value, field }
        : { value, field, alone: `json: cannot unmarshal ${what} into Go value of type ${type}` },
    );
    if (type !== undefined) throw error;
    return this.postpone(error);
  }

  /** Goes on reading as if the value were not there. A converter of maps stops at once. */
  private postpone(error: FieldTypeError): undefined {
    if (this.from === 'map') throw error;
    this.postponed ??= error;
    return undefined;
  }
}

/** The scalar that a type reads that decodes itself. */
function scalarTypeOf({ kind }: FieldDecoder): string | undefined {
  if (kind === 'int-or-string') return 'int32';
  return kind === 'time' || kind === 'micro-time' ? 'string' : undefined;
}

/** A number without a fraction. Undefined beyond 64 bits, where the result of Go depends on the processor. */
function wholeNumber(value: Int64): bigint | undefined {
  const integer = toInt64(value);
  return integer === undefined ? undefined : BigInt(integer);
}

function quantity(value: unknown): string {
  const text = isNumber(value) ? String(value) : value;
  const result = typeof text === 'string' ? canonicalQuantity(text) : undefined;
  if (result === undefined) throw new FieldTypeError(QUANTITY_SYNTAX);
  return result;
}

const RESOURCE_LIST = 'v1.ResourceList';

/** Amounts of resources have no more than thousandths. Source: SetDefaults_ResourceList in pkg/apis/core/v1/defaults.go. */
function thousandths(amount: unknown): unknown {
  return typeof amount === 'string' ? roundedUp(amount) : amount;
}

function time(text: string, { kind }: FieldDecoder): string {
  const isMicro = kind === 'micro-time';
  const canonical = isMicro ? canonicalMicroTime(text) : canonicalTime(text);
  if (canonical === undefined) throw new FieldTypeError(timeSyntax(text, isMicro));
  return canonical;
}

function zeroOf(field: FieldDecoder): unknown {
  switch (field.kind) {
    case 'object':
    case 'map':
      return {};
    case 'array':
      return [];
    case 'int32':
    case 'int64':
    case 'number':
    case 'int-or-string':
      return 0;
    case 'boolean':
      return false;
    case 'quantity':
      return '0';
    case 'time':
    case 'micro-time':
    case 'any':
    case 'union':
      return null;
    case 'string':
    case 'bytes':
      return '';
  }
}

/** The alternative of a union that takes values of this JSON type. */
function alternativeFor(value: unknown, { anyOf = [] }: FieldDecoder): FieldDecoder | undefined {
  const kind = Array.isArray(value) ? 'array' : typeof value;
  return anyOf.find((alternative) => alternative.kind === kind);
}

/** Whether encoding leaves the value out of an optional field. Empty structs stay: `emptyDir: {}`. */
function isEmpty(value: unknown, field: FieldDecoder): boolean {
  // A field that may be anything is held by a pointer: an empty text is a value.
  if (field.omit === 'nothing' || field.kind === 'any') return false;
  if (value === '') return true;
  if (field.omit === 'zero') return value === 0 || value === false;
  if (field.kind === 'array') return (value as unknown[]).length === 0;
  if (field.kind !== 'map') return false;
  for (const _key in value as object) return false;
  return true;
}

/** The converter makes JSON of what may be anything, with its keys in order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}

export function countOwnKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countOwnKeys(item);
    return keys;
  }
  const fields = value as Record<string, unknown>;
  for (const key in fields) keys += 1 + countOwnKeys(fields[key]);
  return keys;
}

/**
 * The path in Go's errors: without list indexes, with embedded structs. Metadata of what users define is read by itself.
 */
function goPath(path: Path, root: FieldDecoder): string {
  const parts: string[] = [];
  let decoder: FieldDecoder | undefined = root;
  for (const part of path) {
    if (typeof part === 'string') {
      const inside: string | undefined = decoder?.inside[part];
      parts.push(inside === undefined ? part : `${inside}.${part}`);
      decoder = decoder?.properties.get(part);
    }
    while (decoder?.items) decoder = decoder.items;
  }
  return (root.structural ? parts.slice(1) : parts).join('.');
}

/** Path in Kubernetes' notation: `spec.template.spec.containers[0].image`. */
export function showPath(path: FieldPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = typeof part === 'string' ? part : part.key;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

function isNumber(value: unknown): value is Int64 {
  return typeof value === 'number' || typeof value === 'bigint';
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
