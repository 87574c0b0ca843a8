import type { StructuralSchema } from './structural-schema.js';

/**
 * The shape of an API type, enough to decode, check and merge it. Generated into `generated/` from what packages on
 * npm publish (scripts/generate-schemas.mjs).
 */
export interface ObjectSchema {
  readonly type:
    'object' | 'array' | 'map' | 'string' | 'integer' | 'number' | 'boolean' | 'any' | 'ref' | 'union';
  /** For `string`: `date-time`, `quantity`, `int-or-string`, `byte`. For `integer`: `int32`, `int64`. */
  readonly format?: string;
  /** For `ref`: the name of another schema. */
  readonly ref?: string;
  /** For `object`. */
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly required?: readonly string[];
  /** For `array` and `map`. */
  readonly items?: ObjectSchema;
  /** For `string`: the words that are known. */
  readonly enum?: readonly string[];
  /** For `union`: an object or an array or a boolean; the JSON type of a value decides which. */
  readonly anyOf?: readonly ObjectSchema[];
  /** For a plain number or boolean: zero and false are equal to absent, and never written. */
  readonly omitZero?: true;
  /** For an optional string: an empty one is a value. */
  readonly keepEmpty?: true;
  /** `x-kubernetes-patch-strategy` of a list or object. */
  readonly patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';
  /** `x-kubernetes-patch-merge-key` of a merged list of objects; absent for a merged list of scalars. */
  readonly patchMergeKey?: string;
  /** For server-side apply. @default 'atomic' */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** For `object`, `map` and references to them: server-side apply treats it as one value. @default 'granular' */
  readonly mapType?: 'atomic' | 'granular';
  /**
   * For `object`: what it has beyond `properties` is described by its user. It is pruned, and otherwise kept as it came,
   * wrong types, nulls and empty values included, for validation to judge.
   */
  readonly structural?: StructuralSchema;
}

/** The meaning of each property, in the words of `kubectl explain`; the key `''` describes the type itself. */
export type Descriptions = Readonly<Record<string, string>>;

/** Facts of a type in Go beyond its shape. Generated into `generated/go` (scripts/generate-go-facts.mjs). */
export interface GoFacts {
  /** Names of types that are texts, numbers, lists or maps: `v1.RestartPolicy`. */
  readonly types?: Readonly<Record<string, string>>;
  /** Embedded structs that a property is in: `VolumeSource`. */
  readonly inside?: Readonly<Record<string, string>>;
  /** The written form of a property that is empty; absent for those that are left out. */
  readonly always?: Readonly<Record<string, unknown>>;
}

/** All schemas by name (`io.k8s.api.apps.v1.Deployment`). */
export interface SchemaRegistry {
  get(name: string): ObjectSchema | undefined;
  /** Empty for a type that is none of Go's. */
  goFacts(name: string): GoFacts;
  /** Empty for an undescribed type. */
  describe(name: string): Descriptions;
  /** Reads them all: for documents about everything. */
  readonly names: readonly string[];
  /** Adds a schema, or replaces the one of that name, for as long as the server runs. */
  put(name: string, schema: ObjectSchema): void;
  /** Takes away what was put. */
  remove(name: string): void;
}

/** A finding of a strict reading of a document, beyond the schema. */
export interface FieldFinding {
  /** `repeated`: a key that a text of YAML has twice in one map, which its reader reports by its line. */
  readonly problem: 'unknown' | 'duplicate' | 'repeated';
  /** Path in Kubernetes' notation: `spec.foo`. Of a repeated key, the key alone, as Go writes it. */
  readonly path: string;
  /** The line of a repeated key's value, counted from one. */
  readonly line?: number;
}
