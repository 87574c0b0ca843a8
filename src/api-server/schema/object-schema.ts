/**
 * The shape of an API type, enough to decode, check, merge and describe it. Generated from published type
 * definitions into `generated/`, with the merge facts added by hand.
 */
export interface ObjectSchema {
  readonly type: 'object' | 'array' | 'map' | 'string' | 'integer' | 'number' | 'boolean' | 'any' | 'ref';
  /** For `string`: `date-time`, `quantity`, `int-or-string`, `byte`. For `integer`: `int32`, `int64`. */
  readonly format?: string;
  /** For `ref`: the name of another schema. */
  readonly ref?: string;
  /** For `object`. */
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly required?: readonly string[];
  /** For `array` and `map`. */
  readonly items?: ObjectSchema;
  readonly description?: string;
  /** `x-kubernetes-patch-strategy` of a list or object. */
  readonly patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';
  /** `x-kubernetes-patch-merge-key` of a merged list of objects; absent for a merged list of scalars. */
  readonly patchMergeKey?: string;
  /** For server-side apply. @default 'atomic' */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** For `object`, `map` and references to them: server-side apply treats it as one value. @default 'granular' */
  readonly mapType?: 'atomic' | 'granular';
}

/** All schemas by name (`io.k8s.api.apps.v1.Deployment`). */
export interface SchemaRegistry {
  get(name: string): ObjectSchema | undefined;
  readonly names: readonly string[];
}

/** What a strict reading of a document found beyond the schema. */
export interface FieldFinding {
  readonly problem: 'unknown' | 'duplicate';
  /** Path in Kubernetes' notation: `spec.foo`. */
  readonly path: string;
}
