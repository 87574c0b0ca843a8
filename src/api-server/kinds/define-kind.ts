import type { Int64, UnstructuredObject } from '../../kubernetes/index.js';
import { carryOverSystemFields, clearSystemFields } from './common/prepare-meta.js';
import type { FieldError, KindDefinition, Subresource } from './kind-definition.js';
import { validateObjectMeta, validateObjectMetaUpdate } from './validation/object-meta.js';
import type { MetaRules } from './validation/object-meta.js';

type Identity = Pick<
  KindDefinition,
  | 'type'
  | 'singular'
  | 'schema'
  | 'columns'
  | 'toRow'
  | 'shortNames'
  | 'scale'
  | 'ownershipFrom'
  | 'garbageCollection'
>;

/** What a kind must say, and what it may add to the behaviour that all kinds share. */
export interface KindRules extends Partial<Identity> {
  readonly type: KindDefinition['type'];
  readonly schema: string;
  readonly columns: KindDefinition['columns'];
  readonly toRow: KindDefinition['toRow'];
  /** @default 'first-apply' */
  readonly ownershipFrom?: KindDefinition['ownershipFrom'];
  /** @default 'supported' */
  readonly garbageCollection?: KindDefinition['garbageCollection'];
  /** @default [] */
  readonly categories?: readonly string[];
  /** @default [] */
  readonly subresources?: readonly string[];
  /** Syntax of the name. @default a DNS subdomain */
  readonly checkName?: MetaRules['checkName'];
  /** @default nothing */
  applyDefaults?(object: UnstructuredObject): void;
  /** @default nothing */
  prepareForCreate?(object: UnstructuredObject): void;
  /** What an update of this subresource may not change is carried over from `old`. @default nothing */
  prepareForUpdate?(
    object: UnstructuredObject,
    old: Readonly<UnstructuredObject>,
    subresource: Subresource,
  ): void;
  /** Beyond `metadata`. @default nothing is wrong */
  validate?(object: Readonly<UnstructuredObject>, errors: FieldError[]): void;
  /** Beyond `metadata`. @default as `validate` for the object, nothing for a subresource */
  validateUpdate?(
    object: Readonly<UnstructuredObject>,
    old: Readonly<UnstructuredObject>,
    subresource: Subresource,
    errors: FieldError[],
  ): void;
  /** @default 0, at once */
  graceSeconds?(object: Readonly<UnstructuredObject>, requested: Int64 | undefined): Int64;
  /** Beyond `metadata.name` and `metadata.namespace`. @default nothing */
  selectableFields?(object: Readonly<UnstructuredObject>): Record<string, string>;
}

/** Completes the rules of one kind with the behaviour that all kinds share. */
export function defineKind(rules: KindRules): KindDefinition {
  const { type } = rules;
  const meta: MetaRules = {
    namespaced: type.namespaced,
    ...(rules.checkName && { checkName: rules.checkName }),
  };
  return {
    type,
    singular: rules.singular ?? type.kind.toLowerCase(),
    shortNames: rules.shortNames ?? [],
    categories: rules.categories ?? [],
    subresources: rules.subresources ?? [],
    schema: rules.schema,
    columns: rules.columns,
    toRow: rules.toRow,
    ownershipFrom: rules.ownershipFrom ?? 'first-apply',
    garbageCollection: rules.garbageCollection ?? 'supported',
    ...(rules.scale && { scale: rules.scale }),
    applyDefaults: (object) => rules.applyDefaults?.(object),
    prepareForCreate(object) {
      clearSystemFields(object);
      rules.prepareForCreate?.(object);
    },
    prepareForUpdate(object, old, subresource) {
      carryOverSystemFields(object, old);
      rules.prepareForUpdate?.(object, old, subresource);
    },
    validateCreate(object) {
      const errors: FieldError[] = [];
      validateObjectMeta(object, meta, errors);
      rules.validate?.(object, errors);
      return errors;
    },
    validateUpdate(object, old, subresource) {
      const errors: FieldError[] = [];
      validateObjectMeta(object, meta, errors);
      validateObjectMetaUpdate(object, old, errors);
      if (rules.validateUpdate) rules.validateUpdate(object, old, subresource, errors);
      else if (subresource === '') rules.validate?.(object, errors);
      return errors;
    },
    gracefulDeletion: (object, requested) => ({
      gracePeriodSeconds: rules.graceSeconds?.(object, requested) ?? 0,
    }),
    selectableFields: (object) => ({
      'metadata.name': object.metadata.name,
      ...(type.namespaced && { 'metadata.namespace': object.metadata.namespace ?? '' }),
      ...rules.selectableFields?.(object),
    }),
  };
}

/**
 * Carries a field over from the old object: an update of this subresource may not change it. The two share it
 * from then on, which spares a copy in the most frequent of all writes; nobody may change it afterwards.
 */
export function carryOver(
  object: UnstructuredObject,
  old: Readonly<UnstructuredObject>,
  field: 'spec' | 'status',
): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}
