import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from '@rollkeeper/machinery/types/apiextensions-v1';
import {
  compileJsonPath,
  apiVersionOf,
  cloneJson,
  qualifiedResource,
  stringifyJson,
  isJsonObject,
} from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { ObjectSchema, StructuralSchema } from '../../schema/index.js';
import { defineKind } from '../define-kind.js';
import type {
  FieldError,
  FieldErrorType,
  KindDefinition,
  StoredView,
  Subresource,
} from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';
import { finalizerWarnings } from '../validation/object-meta.js';
import { customColumns } from './custom-columns.js';
import { customScale } from './custom-scale.js';
import { deprecationOf } from './deprecated-version.js';
import { applyStructuralDefaults, hasDefaults } from './structural/structural-defaults.js';
import { ruleTreeOf } from './rules/rule-tree.js';
import type { RuleNode } from './rules/rule-tree.js';
import { validateRules } from './rules/validate-rules.js';
import { validateScaleSpec, validateScaleStatus } from './scale-validation.js';
import { validateStructural } from './structural/structural-validation.js';
import { storageVersionOf } from './storage-version.js';
import { validateEmbedded } from './structural/embedded-resources.js';
import { validateUnique } from './structural/unique-items.js';

/** A definition as it is stored: it has been validated. */
export type Definition = CustomResourceDefinition & UnstructuredObject;

type Spec = CustomResourceDefinitionSpec;
type Version = CustomResourceDefinitionVersion;

/** A custom kind with its schema. */
export interface CustomKind {
  readonly kind: KindDefinition;
  readonly schema: ObjectSchema;
}

/** Fields of every object beside its schema. */
const IDENTITY: NonNullable<ObjectSchema['properties']> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'ref', ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
};

/** The kinds of a definition, one for each version that it serves, in the order in which it lists them. */
export function customKindsOf(definition: Readonly<Definition>): CustomKind[] {
  const { spec } = definition;
  return spec.versions.filter(({ served }) => served).map((version) => customKind(definition, spec, version));
}

/** The kind in the version in which the objects of a definition are stored, served or not. */
export function storedKindOf(definition: Readonly<Definition>): KindDefinition {
  const { spec } = definition;
  const version = storageVersionOf(spec);
  if (!version) throw new RangeError('a definition has exactly one version that is stored');
  return customKind(definition, spec, version).kind;
}

function customKind(definition: Readonly<Definition>, spec: Spec, version: Version): CustomKind {
  const storedVersions = definition.status?.storedVersions ?? [];
  const refusesCreation = definition.metadata.deletionTimestamp
    ? 'create not allowed while custom resource definition is terminating'
    : undefined;
  const structural = (version.schema?.openAPIV3Schema ?? {}) as StructuralSchema;
  const { group } = spec;
  const names = servedNames(definition, spec);
  const hasStatus = version.subresources?.status !== undefined;
  const type = {
    group,
    version: version.name,
    resource: names.plural,
    kind: names.kind,
    namespaced: spec.scope === 'Namespaced',
  };
  const rules = ruleTreeOf(structural);
  const scale = version.subresources?.scale;
  const withDefaults = hasDefaults(structural);
  const needsView = withDefaults || spec.versions.length > 1 || storedVersions.length > 1;
  const kind = defineKind({
    type,
    singular: names.singular ?? names.kind.toLowerCase(),
    ...(names.listKind && { listKind: names.listKind }),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    schema: customSchemaName(type),
    subresources: scale ? ['scale'] : [],
    hasStatus,
    ownershipFrom: 'creation',
    hasStrategicMerge: false,
    needsVersionOnUpdate: true,
    finalizerNames: 'any',
    warnings: finalizerWarnings,
    ...(refusesCreation && { refusesCreation }),
    ...(version.deprecated && { deprecation: deprecationOf(version, spec) }),
    ...customColumns(version.additionalPrinterColumns),
    ...(scale && { scale: customScale(scale) }),
    ...(needsView && { view: storedView(spec, version.name, withDefaults ? structural : undefined) }),
    generationOf: hasStatus ? specificationOf : withoutIdentity,
    applyDefaults: (object) => applyStructuralDefaults(object, structural),
    prepareForUpdate(object, old, subresource) {
      if (subresource === 'status') keepAllButStatus(object, old);
    },
    selectableFields: selectableFieldsOf(version),
    validate(object, errors) {
      validateStructural(described(object), structural, '', errors);
      if (scale) validateScaleSpec(object, scale, errors);
      if (scale) validateScaleStatus(object, scale, errors);
      validateEmbedded(object, structural, '', errors);
      validateUnique(object, structural, '', errors);
      if (rules) validateByRules(rules, object, undefined, errors);
    },
    validateUpdate(object, old, subresource, errors) {
      validateCustomUpdate(object, old, subresource, { structural, scale }, errors);
      if (rules) validateByRules(rules, object, old, errors);
    },
  });
  return { kind, schema: { type: 'object', properties: IDENTITY, structural } };
}

/** The kind by which a definition's objects are known, if it is served. */
export function servedKindOf(definition: Readonly<Definition>): string {
  return servedNames(definition, definition.spec).kind;
}

/**
 * The names that the definition has got, which may be fewer than it asks for. Where its objects are in the store does not
 * depend on its status, which others may have written.
 */
function servedNames({ status }: Readonly<Definition>, spec: Spec): Spec['names'] {
  const accepted = status?.acceptedNames;
  return accepted?.plural && accepted.kind ? { ...accepted, plural: spec.names.plural } : spec.names;
}

/** `com.example.stable.v1.CronTab`: what the schema of a kind is called in OpenAPI documents. */
export function customSchemaName(type: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): string {
  return `${type.group.split('.').reverse().join('.')}.${type.version}.${type.kind}`;
}

function withoutIdentity(object: Readonly<UnstructuredObject>): Record<string, unknown> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object;
  return rest;
}

/** If the status has a writer of its own, its changes do not raise the generation. */
function specificationOf(object: Readonly<UnstructuredObject>): unknown {
  const { status: _status, ...rest } = withoutIdentity(object);
  return rest;
}

/** The part of an object that the schema describes; of the metadata it may restrict the name alone. */
function described(object: Readonly<UnstructuredObject>): Record<string, unknown> {
  const { name, generateName } = object.metadata;
  return { ...object, metadata: { name, ...(generateName !== undefined && { generateName }) } };
}

/** The fields that `fieldSelector` may name, under the path without its first point: `spec.color`. */
function selectableFieldsOf({
  selectableFields = [],
}: Version): (object: Readonly<UnstructuredObject>) => Record<string, string> {
  const fields = selectableFields.map(
    ({ jsonPath }) => [jsonPath.replace(/^\./, ''), compileJsonPath(jsonPath)] as const,
  );
  return (object) =>
    Object.fromEntries(
      fields.map(([path, read]) => {
        const value = read?.(object)[0];
        return [path, typeof value === 'string' ? value : value === undefined ? '' : stringifyJson(value)];
      }),
    );
}

function keepAllButStatus(object: UnstructuredObject, old: Readonly<UnstructuredObject>): void {
  const { status, metadata } = object;
  for (const name of Object.keys(object)) if (name !== 'metadata') delete object[name];
  const { status: _status, ...rest } = old;
  const { resourceVersion, managedFields } = metadata;
  Object.assign(object, rest, { metadata: { ...old.metadata, resourceVersion, managedFields } });
  if (managedFields === undefined) delete object.metadata.managedFields;
  if (status !== undefined) object.status = status;
}

/** The tests of objects beside rules. */
interface Judging {
  readonly structural: StructuralSchema;
  readonly scale: CustomResourceSubresourceScale | undefined;
}

function validateCustomUpdate(
  object: Readonly<UnstructuredObject>,
  old: Readonly<UnstructuredObject>,
  subresource: Subresource,
  { structural, scale }: Judging,
  errors: FieldError[],
): void {
  if (subresource === 'status') {
    validateStatus(object, old, structural, errors);
  } else {
    validateStructural(described(object), structural, '', errors, described(old));
    if (scale) validateScaleSpec(object, scale, errors);
  }
  if (scale) validateScaleStatus(object, scale, errors);
  if (subresource !== 'status') validateEmbedded(object, structural, '', errors);
  // Items that were not unique may stay so.
  const before: FieldError[] = [];
  validateUnique(old, structural, '', before);
  if (before.length === 0) validateUnique(object, structural, '', errors);
}

/** Texts name places in the status without it. */
function validateStatus(
  object: Readonly<UnstructuredObject>,
  old: Readonly<UnstructuredObject>,
  structural: StructuralSchema,
  errors: FieldError[],
): void {
  const status = structural.properties?.['status'];
  if (!status || object.status === undefined) return;
  const found: FieldError[] = [];
  validateStructural(object.status, status, '', found, old.status);
  for (const error of found)
    errors.push({ ...error, field: error.field === '<nil>' ? 'status' : `status.${error.field}` });
}

/**
 * A value that has no type, or is too long or not supported, cannot be judged by rules. Source: hasBlockingErr in
 * apiextensions-apiserver/pkg/registry/customresource.
 */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function validateByRules(
  rules: RuleNode,
  object: Readonly<UnstructuredObject>,
  old: Readonly<UnstructuredObject> | undefined,
  errors: FieldError[],
): void {
  if (errors.some(({ type }) => BLOCKING.has(type)))
    errors.push(
      invalid(
        '<nil>',
        null,
        'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ),
    );
  else {
    const kept: FieldError[] = [];
    validateRules(rules, object, old, errors, kept);
    for (const error of kept) errors.push({ ...error, isKept: true });
  }
}

/** Objects are stored in one version of theirs; without a webhook, the others differ in the name of the version alone. */
function storedView(spec: Spec, version: string, defaulted: StructuralSchema | undefined): StoredView {
  const storage = storageVersionOf(spec)?.name ?? version;
  const stored = apiVersionOf({ group: spec.group, version: storage });
  const shown = apiVersionOf({ group: spec.group, version });
  const { strategy, webhook } = spec.conversion ?? {};
  const client = strategy === 'Webhook' ? webhook?.clientConfig : undefined;
  const reviewVersions = webhook?.conversionReviewVersions ?? [];
  return {
    resource: qualifiedResource({ group: spec.group, resource: spec.names.plural }),
    ...(client && { conversion: { client, reviewVersions, stored, shown } }),
    toStored: (object) => ({ ...object, apiVersion: stored }),
    fromStored(object) {
      if (!defaulted) return { ...object, apiVersion: shown };
      // Defaults that came after the object was written count for it, too.
      const copy: UnstructuredObject = isJsonObject(object) ? cloneJson(object) : object;
      copy.apiVersion = shown;
      applyStructuralDefaults(copy, defaulted);
      return copy;
    },
  };
}
