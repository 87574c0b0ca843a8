/**
 * The types that variables of expressions are declared with. Values of all of them come as JSON; how a JSON value reads in
 * an expression follows from its type.
 */
export type CelType = SimpleType | CelListType | CelMapType | CelOptionalType | CelObjectType | CelValueType;

/** `dyn` is any type: fields and operations are resolved at run time. */
export type SimpleType = 'bool' | 'bytes' | 'double' | 'duration' | 'dyn' | 'int' | 'string' | 'timestamp';

interface CelListType {
  readonly kind: 'list';
  readonly items: CelType;
  /** Scalars whose order says nothing: two lists of the same items are equal. */
  readonly isSet?: boolean;
}

/** From texts to values of one type. */
interface CelMapType {
  readonly kind: 'map';
  readonly values: CelType;
}

/** For variables that may have no value: `undefined` is none. */
interface CelOptionalType {
  readonly kind: 'optional';
  readonly value: CelType;
}

/** Comes as it is and not as JSON: what another expression gave, or a value of a type that the library has. */
interface CelValueType {
  readonly kind: 'value';
  /** As the library calls the type. */
  readonly name: string;
}

/** An object whose fields are known: one that it has not refuses the expression before it ever runs. */
export interface CelObjectType {
  readonly kind: 'object';
  /** How messages call it. */
  readonly name: string;
  /** Asked for the names that an expression uses, and for those alone: a large schema costs what is used of it. */
  field(name: string): CelField | undefined;
}

export interface CelField {
  /** Its name in the JSON object, which need not be one that can be written in an expression. */
  readonly key: string;
  readonly type: CelType;
}

/** The type of a value that another expression gave. */
export const ANY_VALUE: CelValueType = { kind: 'value', name: 'dyn' };

export function listOf(items: CelType): CelListType {
  return { kind: 'list', items };
}

export function mapOf(values: CelType): CelMapType {
  return { kind: 'map', values };
}

export function optionalOf(value: CelType): CelOptionalType {
  return { kind: 'optional', value };
}

/** An object with the given fields, each named as in the JSON. */
export function objectOf(name: string, fields: Readonly<Record<string, CelType>>): CelObjectType {
  return {
    kind: 'object',
    name,
    field: (key) => (Object.hasOwn(fields, key) ? { key, type: fields[key]! } : undefined),
  };
}
