import { isJsonObject, parseJsonWithFractions, toInt64 } from '@rollkeeper/machinery/kubernetes';
import type { Int64, WrittenFractions } from '@rollkeeper/machinery/kubernetes';
import { Base64Error, canonicalBase64 } from './base64.js';
import { noteEmptied } from './emptied-fields.js';
import type { FieldDecoder } from './field-decoder.js';
import type { FieldPath } from './field-path.js';
import { goPath } from './field-path.js';
import { FieldTypeError } from './field-type-error.js';
import {
  alternativeFor,
  inOrder,
  isEmpty,
  isNumber,
  jsonTypeOf,
  quantity,
  scalarTypeOf,
  thousandths,
  time,
  wholeNumber,
  zeroOf,
} from './go-values.js';
import type { FieldFinding } from './object-schema.js';
import { UnknownFields, countOwnKeys } from './unknown-fields.js';

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
 * @param earlier the first value of a wrong type before it, if there is one
 * @returns the first value of a wrong type up to now, which Go reports at the end of the document
 * @throws FieldTypeError for a type that decodes itself, which ends the reading
 */
export function checkPlaced(
  { field, owner, path, text }: PlacedValue,
  root: FieldDecoder,
  earlier?: FieldTypeError,
): FieldTypeError | undefined {
  const { fractions, value } = parseJsonWithFractions(`[${text}]`);
  const coercer = new Coercer(root, fractions, false, 'json', { owner, path });
  coercer.postponed = earlier;
  coercer.only(value as readonly unknown[], field);
  return coercer.postponed;
}

/** Whether what Go writes of empty fields is put there. Lists, times and what else is null has to wait: see `writeEmpties`. */
export type Empties = 'written' | 'absent';

const NO_FRACTIONS: WrittenFractions = new Map();

const INT32_MAX = 2 ** 31 - 1;

const RESOURCE_LIST = 'v1.ResourceList';
const INTEGERS: ReadonlySet<FieldDecoder['kind']> = new Set(['int32', 'int64', 'int-or-string']);

class Coercer extends UnknownFields implements CoerceResult {
  private owner: string;
  /** The first value of a wrong type, which Go reports at the end, unless a type that decodes itself refuses its value. */
  postponed: FieldTypeError | undefined;

  constructor(
    private readonly root: FieldDecoder,
    private readonly fractions: WrittenFractions,
    private readonly writesEmpties: boolean,
    private readonly from: 'json' | 'map',
    { owner = '', path = [] }: Partial<Pick<PlacedValue, 'owner' | 'path'>> = {},
  ) {
    super([...path]);
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
    const type = scalarTypeOf(field);
    // Only the first is reported, and an error takes much longer to make than a value to read.
    if (this.postponed && type === undefined && this.from === 'json') return undefined;
    const path = goPath(this.path, this.root);
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
