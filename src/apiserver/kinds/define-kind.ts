import type { Int64, KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { goQuote, sameJson, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import { isDefinedByUsers } from './kind-definition.js';
import type { FieldError, KindDefinition, Subresource, TableCell } from './kind-definition.js';
import { dropperOfFeaturesOff } from './pod-template/drop-features-off.js';
import { collectErrors } from './validation/field-errors.js';
import { hasEmptied } from '../schema/index.js';
import { validateObjectMeta } from './validation/object-meta.js';
import type { MetaRules } from './validation/object-meta.js';
import { validateMetaOfUpdate } from './validation/meta-of-update.js';

type Identity = Pick<
  KindDefinition,
  | 'type'
  | 'singular'
  | 'listKind'
  | 'schema'
  | 'columns'
  | 'shortNames'
  | 'scale'
  | 'ownershipFrom'
  | 'view'
  | 'reservations'
  | 'garbageCollection'
  | 'refusedAs'
  | 'refusesCreation'
  | 'hasStrategicMerge'
  | 'isListedFromStore'
  | 'answersDeleted'
  | 'deprecation'
  | 'orphansByDefault'
  | 'conversionProblem'
  | 'annotationsOfEmpty'
>;

/**
 * The rules of a kind: those that it must have, and those that it may add to the behaviour that all kinds share. `T` is
 * the type of its objects as they come out of the decoder: what the schema calls required may be missing nevertheless.
 */
export interface KindRules<T = UnstructuredObject> extends Partial<Identity> {
  readonly type: KindDefinition['type'];
  readonly schema: string;
  readonly columns: KindDefinition['columns'];
  /** One cell a column. @param nowMs wall clock, for ages */
  toRow(object: Readonly<T>, nowMs: number): TableCell[];
  /** @default 'first-apply' */
  readonly ownershipFrom?: KindDefinition['ownershipFrom'];
  /** @default 'supported' */
  readonly garbageCollection?: KindDefinition['garbageCollection'];
  /** @default [] */
  readonly categories?: readonly string[];
  /** @default [] */
  readonly subresources?: readonly string[];
  /**
   * Has a `status` that only its subresource may write: creations lose theirs, updates of the object keep the old one,
   * updates of the status keep all else that the kind has. @default false
   */
  readonly hasStatus?: boolean;
  /** The part whose changes count in `metadata.generation`. @default there is no generation */
  generationOf?(object: Readonly<T>): unknown;
  /** The generation of a new object. @default 1 */
  readonly firstGeneration?: 0;
  /** Go compares the part field by field, so that an empty list or map that a request wrote is a change. @default false */
  readonly tellsEmptyFromNone?: boolean;
  /** A `PUT` to an object that is not there creates it. @default false */
  readonly createsOnUpdate?: boolean;
  /** A `PUT` has to name the version that it replaces. @default false */
  readonly needsVersionOnUpdate?: boolean;
  /** The metadata that an update of the status leaves as it is. @default nothing: it may change all metadata */
  readonly keptWithStatus?: readonly (keyof UnstructuredObject['metadata'])[];
  /** Syntax of the name. @default a DNS subdomain */
  readonly checkName?: MetaRules['checkName'];
  /** @default 'standard-or-qualified' */
  readonly finalizerNames?: MetaRules['finalizerNames'];
  /** @default nothing */
  applyDefaults?(object: T): void;
  /** @default nothing */
  prepareForCreate?(object: T, nowMs: number): void;
  /** Carries over from `old` what an update of this subresource may not change. @default nothing */
  prepareForUpdate?(object: T, old: Readonly<T>, subresource: Subresource, nowMs: number): void;
  /** After the generation has been counted: what a client may send, and nothing keeps. @default nothing */
  completeUpdate?(object: T): void;
  /**
   * The fields that are checked before all others: nothing more is said of an object that has them wrong. @default
   * nothing
   */
  validateFirst?(object: Readonly<T>, subresource: Subresource): readonly FieldError[];
  /** Beyond `metadata`. @default nothing is wrong */
  validate?(object: Readonly<T>, errors: FieldError[]): void;
  /** Beyond `metadata`. @default as `validate` for the object, nothing for a subresource */
  validateUpdate?(
    object: Readonly<T>,
    old: Readonly<T>,
    subresource: Subresource,
    errors: FieldError[],
    /** Complains of `metadata` once more, for kinds that do so in the midst of the rest. */
    validateMetaAgain: () => void,
    nowMs: number,
  ): void;
  /** @default nothing */
  warnings?(object: Readonly<T>, old?: Readonly<T>): string[];
  /** Changes the object of a deletion beyond its mark. @default nothing */
  prepareForDelete?(object: T, nowMs: number): void;
  /** @default 0, at once */
  graceSeconds?(object: Readonly<T>, requested: Int64 | undefined): Int64;
  /** Beyond `metadata.name` and `metadata.namespace`. @default nothing */
  selectableFields?(object: Readonly<T>): Record<string, string>;
  /** @default words that depend on whether the kind has selectable fields */
  unknownField?(field: string): string;
}

/** Completes the rules of one kind with the behaviour that all kinds share. */
export function defineKind<T extends KubernetesObject = UnstructuredObject>(
  rulesOfKind: KindRules<T>,
): KindDefinition {
  // The objects are what the kind's schema says, which the types cannot know.
  const rules = rulesOfKind as KindRules;
  return {
    ...namesOf(rules),
    ...traitsOf(rules),
    ...changesOf(rules),
    ...checksOf(rules),
    ...readsOf(rules),
  };
}

type Names = 'type' | 'singular' | 'listKind' | 'shortNames' | 'categories' | 'subresources';

function namesOf(rules: KindRules): Pick<KindDefinition, Names> {
  const { type } = rules;
  return {
    type,
    singular: rules.singular ?? type.kind.toLowerCase(),
    listKind: rules.listKind ?? `${type.kind}List`,
    shortNames: rules.shortNames ?? [],
    categories: rules.categories ?? [],
    subresources: [...(rules.hasStatus ? ['status'] : []), ...(rules.subresources ?? [])],
  };
}

/** The traits of the kind as a whole. */
function traitsOf(rules: KindRules) {
  return {
    createsOnUpdate: rules.createsOnUpdate ?? false,
    needsVersionOnUpdate: rules.needsVersionOnUpdate ?? false,
    schema: rules.schema,
    ownershipFrom: rules.ownershipFrom ?? 'first-apply',
    garbageCollection: rules.garbageCollection ?? 'supported',
    ...(rules.scale && { scale: rules.scale }),
    ...(rules.view && { view: rules.view }),
    ...(rules.reservations && { reservations: rules.reservations }),
    ...(rules.refusedAs && { refusedAs: rules.refusedAs }),
    ...(rules.refusesCreation && { refusesCreation: rules.refusesCreation }),
    ...(rules.hasStrategicMerge === false && { hasStrategicMerge: false }),
    ...(rules.isListedFromStore && { isListedFromStore: true }),
    ...(rules.answersDeleted && { answersDeleted: true }),
    ...(rules.deprecation !== undefined && { deprecation: rules.deprecation }),
    ...(rules.orphansByDefault && { orphansByDefault: rules.orphansByDefault }),
    ...(rules.conversionProblem && { conversionProblem: rules.conversionProblem }),
    ...(rules.annotationsOfEmpty && { annotationsOfEmpty: rules.annotationsOfEmpty }),
  } satisfies Partial<KindDefinition>;
}

/** The changes that a write makes beyond what was asked. */
function changesOf(rules: KindRules) {
  const dropFeaturesOff = dropperOfFeaturesOff(rules.type);
  return {
    applyDefaults(object) {
      rules.applyDefaults?.(object);
    },
    prepareForCreate(object, nowMs = 0) {
      dropFeaturesOff?.(object);
      clearSystemFields(object, rules.generationOf !== undefined);
      if (rules.hasStatus) delete object.status;
      if (rules.generationOf && rules.firstGeneration !== 0) object.metadata.generation = 1;
      rules.prepareForCreate?.(object, nowMs);
    },
    prepareForUpdate(object, old, subresource, nowMs = 0) {
      // First, because parts that are carried over belong to the old object as well.
      dropFeaturesOff?.(object);
      carryOverSystemFields(object, old);
      if (rules.hasStatus) carryOverOtherParts(object, old, subresource);
      if (subresource === 'status')
        for (const field of rules.keptWithStatus ?? []) carryOver(object.metadata, old.metadata, field);
      rules.prepareForUpdate?.(object, old, subresource, nowMs);
      if (rules.generationOf) countGeneration(rules, object, old);
      rules.completeUpdate?.(object);
    },
    ...(rules.prepareForDelete && {
      prepareForDelete: (object: UnstructuredObject, nowMs: number) =>
        rules.prepareForDelete?.(object, nowMs),
    }),
    gracefulDeletion: (object, requested) => ({
      gracePeriodSeconds: rules.graceSeconds?.(object, requested) ?? 0,
    }),
  } satisfies Partial<KindDefinition>;
}

/** The checks of an object. */
function checksOf(rules: KindRules) {
  const meta: MetaRules = {
    namespaced: rules.type.namespaced,
    ...(rules.finalizerNames && { finalizerNames: rules.finalizerNames }),
    ...(rules.checkName && { checkName: rules.checkName }),
  };
  return {
    ...(rules.warnings && {
      warnings: (object: Readonly<UnstructuredObject>, old?: Readonly<UnstructuredObject>) =>
        rules.warnings?.(object, old) ?? [],
    }),
    validateCreate(object) {
      return collectErrors((errors) => {
        errors.push(...(rules.validateFirst?.(object, '') ?? []));
        if (errors.length > 0) return;
        validateObjectMeta(object, meta, errors);
        rules.validate?.(object, errors);
      });
    },
    validateUpdate(object, old, subresource, nowMs = 0) {
      return collectErrors((errors) => {
        errors.push(...(rules.validateFirst?.(object, subresource) ?? []));
        if (errors.length > 0) return;
        const about = { ...meta, kind: rules.type.kind, subresource };
        const validateMetaAgain = validateMetaOfUpdate(object, old, about, errors);
        if (rules.validateUpdate)
          rules.validateUpdate(object, old, subresource, errors, validateMetaAgain, nowMs);
        else if (subresource === '') rules.validate?.(object, errors);
      });
    },
  } satisfies Partial<KindDefinition>;
}

/** How objects are selected and shown. */
function readsOf(rules: KindRules) {
  return {
    columns: rules.columns,
    toRow: (object, nowMs) => rules.toRow(object, nowMs),
    selectableFields: (object) => ({
      'metadata.name': object.metadata.name,
      ...((rules.type.namespaced || !rules.selectableFields) && {
        'metadata.namespace': object.metadata.namespace ?? '',
      }),
      ...rules.selectableFields?.(object),
    }),
    unknownField(field) {
      if (rules.unknownField) return rules.unknownField(field);
      if (rules.selectableFields) return `field label not supported: ${field}`;
      return `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
    },
  } satisfies Partial<KindDefinition>;
}

/** Restores the parts that the updated subresource has nothing to do with. */
function carryOverOtherParts(
  object: UnstructuredObject,
  old: Readonly<UnstructuredObject>,
  subresource: Subresource,
): void {
  if (subresource === '') carryOver(object, old, 'status');
  if (subresource !== 'status') return;
  carryOver(object, old, 'spec');
}

function countGeneration(
  rules: KindRules,
  object: UnstructuredObject,
  old: Readonly<UnstructuredObject>,
): void {
  const before = rules.generationOf?.(old);
  const after = rules.generationOf?.(object);
  const equal = isDefinedByUsers(rules) ? sameJson : sameMeaning;
  const isSame =
    before === after || (equal(before, after) && !(rules.tellsEmptyFromNone && hasEmptied(after)));
  const generation = (old.metadata.generation ?? 0) + (isSame ? 0 : 1);
  // An object that an earlier release stored has none yet.
  if (generation === 0) delete object.metadata.generation;
  else object.metadata.generation = generation;
}

/**
 * Copies a field from the old object: an update of this subresource may not change it. Both share it from then on,
 * which saves a copy in the most frequent of all writes; do not change it afterwards.
 */
export function carryOver<T extends object>(object: T, old: Readonly<T>, field: keyof T): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

/** Removes the fields of `metadata` that a creation may not set. */
function clearSystemFields({ metadata }: UnstructuredObject, hasGeneration: boolean): void {
  // A kind without a generation keeps the one that it is given.
  if (hasGeneration) delete metadata.generation;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
}

/**
 * Carries over the fields that an update keeps when the caller leaves them out, and those that only the server counts.
 * Source: the beginning of ValidateObjectMetaAccessorUpdate in apimachinery, and rest.BeforeUpdate in apiserver.
 */
function carryOverSystemFields(
  { metadata }: UnstructuredObject,
  { metadata: old }: Readonly<UnstructuredObject>,
): void {
  if (old.uid !== undefined) metadata.uid ||= old.uid;
  if (old.creationTimestamp !== undefined) metadata.creationTimestamp = old.creationTimestamp;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  }
  if (old.generation === undefined) delete metadata.generation;
  else metadata.generation = old.generation;
}
