import type { Environment } from '@marcbachmann/cel-js';
import { Optional } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { sameJson, stringifyJson, toInt64 } from '@rollkeeper/machinery/kubernetes';
import type { CelField, CelObjectType, CelType, SimpleType } from './cel-type.js';
import { parseDuration } from './library/durations.js';

/** A type as an environment knows it, and how its values are made. */
export interface DeclaredType {
  readonly name: string;
  /** @throws RangeError for a value that is none of the type */
  toValue(json: unknown): unknown;
  /** Null is a value like others; else a field that is null counts as one that is not there. */
  readonly hasNull?: boolean;
}

const NAMES: Readonly<Record<SimpleType, string>> = {
  bool: 'bool',
  bytes: 'bytes',
  double: 'double',
  duration: 'google.protobuf.Duration',
  dyn: 'dyn',
  int: 'int',
  string: 'string',
  timestamp: 'google.protobuf.Timestamp',
};

/** An object of a declared type; its class has a getter for each field that the expression uses. */
export abstract class DeclaredObject {
  private readonly values = new Map<string, unknown>();

  /** @param json null where a variable of the type has no object: it equals null then, and has no fields */
  constructor(readonly json: Readonly<Record<string, unknown>> | null) {}

  protected read(key: string, type: DeclaredType): unknown {
    if (this.values.has(key)) return this.values.get(key);
    const json = this.json && Object.hasOwn(this.json, key) ? this.json[key] : undefined;
    const isNone = json === undefined || (json === null && !type.hasNull);
    const value = isNone ? undefined : type.toValue(json);
    this.values.set(key, value);
    return value;
  }
}

/** Declares the types of the variables of one expression, of objects with those fields that the expression names. */
export class TypeDeclarations {
  private readonly objects = new Map<CelObjectType, DeclaredType>();
  /** How messages call the objects, by the names that the environment knows. */
  readonly shownNames = new Map<string, string>();

  constructor(
    private readonly environment: Environment,
    private readonly names: ReadonlySet<string>,
  ) {}

  declare(type: CelType): DeclaredType {
    if (typeof type === 'string') return { name: NAMES[type], toValue: SIMPLE_VALUES[type] };
    switch (type.kind) {
      case 'list': {
        const items = this.declare(type.items);
        const toValue = (json: unknown): unknown[] => (json as unknown[]).map((item) => items.toValue(item));
        return {
          name: `list<${items.name}>`,
          toValue: type.isSet ? (json) => new Set(toValue(json)) : toValue,
        };
      }
      case 'map': {
        const values = this.declare(type.values);
        return {
          name: `map<string, ${values.name}>`,
          toValue: (json) => toMap(json, (value) => values.toValue(value)),
        };
      }
      case 'optional': {
        const value = this.declare(type.value);
        return {
          name: `optional<${value.name}>`,
          toValue: (json) => (json === undefined ? Optional.none() : Optional.of(value.toValue(json))),
        };
      }
      case 'value':
        return { name: type.name, toValue: (value) => value, hasNull: true };
      case 'object':
        return this.objects.get(type) ?? this.declareObject(type);
    }
  }

  private declareObject(type: CelObjectType): DeclaredType {
    const fields = new Map<string, CelField>();
    for (const name of this.names) {
      const field = name === 'constructor' || name === '__proto__' ? undefined : type.field(name);
      if (field) fields.set(name, field);
    }
    // The library keeps the names of all types that ever were: the same few are used again and again.
    const name = `Object${this.objects.size}`;
    class Instance extends DeclaredObject {}
    const declared: DeclaredType = {
      name,
      toValue: (json) => new Instance(json as Record<string, unknown> | null),
    };
    this.objects.set(type, declared);
    this.shownNames.set(name, type.name);
    const declaredFields: Record<string, string> = {};
    for (const [field, { key, type: fieldType }] of fields) {
      const inner = this.declare(fieldType);
      declaredFields[field] = inner.name;
      Object.defineProperty(Instance.prototype, field, {
        get(this: Instance) {
          return this.read(key, inner);
        },
      });
    }
    this.environment.registerType(name, { ctor: Instance, fields: declaredFields });
    this.environment.registerOperator(`${name} == ${name}`, (a: Instance, b: Instance) =>
      sameJson(a.json, b.json),
    );
    // Null may be held against any object.
    this.environment.registerOperator(`${name} == null`, (object: Instance) => object.json === null);
    return declared;
  }
}

const SIMPLE_VALUES: Readonly<Record<SimpleType, (json: unknown) => unknown>> = {
  bool: (json) => json,
  bytes: (json) => new Uint8Array(Buffer.from(json as string, 'base64')),
  double: Number,
  duration: (json) => {
    const nanos = parseDuration(json as string);
    if (nanos === undefined) throw new RangeError(`${stringifyJson(json)} is no duration`);
    return new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
  },
  dyn: anyValue,
  int: (json) => BigInt(toInt64(json) ?? Math.trunc(Number(json))),
  string: (json) => json,
  timestamp: (json) => {
    const time = new Date(json as string);
    if (Number.isNaN(time.getTime())) throw new RangeError(`${stringifyJson(json)} is no time`);
    return time;
  },
};

function toMap(json: unknown, toValue: (json: unknown) => unknown): Map<string, unknown> {
  return new Map(Object.entries(json as object).map(([key, value]) => [key, toValue(value)]));
}

/** Converts a value of unknown type: whole numbers are integers, as in JSON that Go reads. */
function anyValue(json: unknown): unknown {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return json.map(anyValue);
  return typeof json === 'object' && json !== null ? toMap(json, anyValue) : json;
}
