import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
} from '@rollkeeper/machinery/types/apiextensions-v1';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { cloneJson, sameJson, goQuote, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { asWritten } from '../../schema/index.js';
import { CREATED_AT, NAME, printed } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import {
  validateDefinitionUpdate,
  validateNames,
  validateNewDefinition,
} from './custom-resource-definition.validation.js';
import { isSupportedFormat } from '../custom/structural/formats.js';

/** Warns of formats that judge nothing, where a definition did not have them before. */
export function formatWarnings(
  spec: Decoded<CustomResourceDefinitionSpec> | undefined,
  old: Decoded<CustomResourceDefinitionSpec> | undefined,
): string[] {
  const known = new Set(unknownFormats(old));
  return unknownFormats(spec)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

function unknownFormats(spec: Decoded<CustomResourceDefinitionSpec> | undefined): string[] {
  return (spec?.versions ?? []).flatMap(({ schema }) => formatsIn(schema?.openAPIV3Schema));
}

/** Fields with one schema, with a list of them, and with a map of them. */
const ONE = ['items', 'not', 'additionalProperties', 'additionalItems'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const MAPS = ['properties', 'patternProperties', 'definitions', 'dependencies'];

function formatsIn(schema: unknown): string[] {
  if (!isJsonObject(schema)) return [];
  const { format, type } = schema;
  const isUnknown =
    typeof format === 'string' &&
    format !== '' &&
    !isSupportedFormat(format, typeof type === 'string' ? type : '');
  return [
    ...(isUnknown ? [format] : []),
    ...ONE.flatMap((field) => [schema[field]].flat().flatMap(formatsIn)),
    ...LISTS.flatMap((field) => (Array.isArray(schema[field]) ? schema[field].flatMap(formatsIn) : [])),
    ...MAPS.flatMap((field) => Object.values(schema[field] ?? {}).flatMap(formatsIn)),
  ];
}

type Written = DecodedObject<CustomResourceDefinition>;

/** Finalizer: keeps a deleted definition until the last of its objects is deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** Source: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go and v1/defaults.go. */
export const CUSTOM_RESOURCE_DEFINITION_KIND = defineKind<Written>({
  type: {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    resource: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  schema: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  hasStatus: true,
  needsVersionOnUpdate: true,
  generationOf: ({ spec }) => spec,
  ...printed<Written>(NAME, CREATED_AT),
  applyDefaults(object) {
    const { spec, status } = object;
    applySpecDefaults(spec);
    if (spec && !status?.storedVersions?.length)
      object.status = Object.assign(status ?? {}, { storedVersions: storedVersion(spec) });
  },
  prepareForCreate(object) {
    object.status = {
      acceptedNames: { kind: '', plural: '' },
      storedVersions: storedVersion(object.spec),
    };
  },
  prepareForUpdate(object, old, subresource) {
    if (subresource !== '') {
      keepEmptyConditions(object.status);
      return;
    }
    const stored = new Set([...(old.status?.storedVersions ?? []), ...storedVersion(object.spec)]);
    object.status = { ...old.status, storedVersions: [...stored] };
  },
  prepareForDelete({ metadata, status }, nowMs) {
    if (metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    metadata.finalizers = [...(metadata.finalizers ?? []), CLEANUP_FINALIZER];
    const conditions = status?.conditions?.filter(({ type }) => type !== 'Terminating') ?? [];
    if (!status) return;
    status.conditions = [
      ...conditions,
      {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: toRfc3339(nowMs),
        reason: 'InstanceDeletionPending',
        message:
          'CustomResourceDefinition marked for deletion; CustomResource deletion will be initiated soon',
      },
    ];
  },
  warnings: ({ spec }, old) => formatWarnings(spec, old?.spec),
  validate: (object, errors) => validateNewDefinition(object, errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === 'status')
      validateNames(object.status?.acceptedNames ?? {}, 'status.acceptedNames', errors);
    else if (!isOnlyLetGo(object, old)) validateDefinitionUpdate(object, old, errors);
  },
});

/** Definitions are stored as JSON, which tells an empty list from none. */
function keepEmptyConditions(status: Written['status']): void {
  if (status && Array.isArray(asWritten(status, 'conditions'))) status.conditions ??= [];
}

function applySpecDefaults(spec: Decoded<CustomResourceDefinitionSpec> | undefined): void {
  if (!spec) return;
  const { names } = spec;
  if (names?.kind) {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
}

/**
 * Whether a deleted definition keeps its spec, valid or not. An invalid spec must not prevent its removal: the genuine
 * server removes its finalizer through the status, where the rest is not validated.
 */
function isOnlyLetGo({ spec }: Readonly<Written>, old: Readonly<Written>): boolean {
  if (!old.metadata.deletionTimestamp) return false;
  const before = cloneJson(old.spec);
  applySpecDefaults(before);
  return sameJson(spec, before);
}

/** The first of several. */
function storedVersion(spec: Decoded<CustomResourceDefinitionSpec> | undefined): string[] {
  const stored = spec?.versions?.find(({ storage }) => storage);
  return stored ? [stored.name ?? ''] : [];
}
