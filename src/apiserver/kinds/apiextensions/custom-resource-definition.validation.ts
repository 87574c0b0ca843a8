import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '@rollkeeper/machinery/types/apiextensions-v1';
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  FIELD_IMMUTABLE,
  sameJson,
  semanticEqual,
} from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../schema/index.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateWebhookClient } from '../validation/webhook-clients.js';
import { validateSyntax } from '../validation/words.js';
import { reservationOf } from './reserved-groups.js';
import { validateSchemaRules } from './schema-rules.js';
import { validateStructuralSchema } from './structural-schema.js';

type Definition = DecodedObject<CustomResourceDefinition>;
type Spec = Decoded<CustomResourceDefinitionSpec>;
type Version = Decoded<CustomResourceDefinitionVersion>;

const SCOPES = ['Cluster', 'Namespaced'];
const APPROVAL = 'api-approved.kubernetes.io';
const PROTECTED = /(^|\.)(k8s\.io|kubernetes\.io)$/;

/**
 * Stricter than the genuine server, which takes definitions in the groups of built-in kinds. Those that an older release
 * took can still be changed and deleted.
 */
export function validateNewDefinition(definition: Readonly<Definition>, errors: FieldError[]): void {
  validateDefinition(definition, errors);
  const { group = '' } = definition.spec ?? {};
  // What has no dot is complained about already.
  const reserved = group.includes('.') ? reservationOf(group) : undefined;
  if (reserved !== undefined) errors.push(forbidden('spec.group', reserved));
}

/** Source: ValidateCustomResourceDefinition in apiextensions-apiserver/pkg/apis/apiextensions/validation. */
function validateDefinition(
  { metadata, spec = {} }: Readonly<Definition>,
  errors: FieldError[],
  old?: Readonly<Definition>,
): void {
  const { names, group = '' } = spec;
  if (metadata.name && metadata.name !== `${names?.plural ?? ''}.${group}`)
    errors.push(invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  if (PROTECTED.test(group) && !metadata.annotations?.[APPROVAL])
    errors.push(
      required(
        `metadata.annotations[${APPROVAL}]`,
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    );
  validateSpec(spec, old?.spec, errors);
}

export function validateDefinitionUpdate(
  definition: Readonly<Definition>,
  old: Readonly<Definition>,
  errors: FieldError[],
): void {
  validateDefinition(definition, errors, old);
  if (definition.spec?.group !== old.spec?.group)
    errors.push(invalid('spec.group', definition.spec?.group ?? '', FIELD_IMMUTABLE));
  const isEstablished = old.status?.conditions?.some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );
  if (!isEstablished) return;
  if (definition.spec?.scope !== old.spec?.scope)
    errors.push(invalid('spec.scope', definition.spec?.scope ?? '', FIELD_IMMUTABLE));
  if (definition.spec?.names?.kind !== old.spec?.names?.kind)
    errors.push(invalid('spec.names.kind', definition.spec?.names?.kind ?? '', FIELD_IMMUTABLE));
}

function validateSpec(spec: Spec, old: Spec | undefined, errors: FieldError[]): void {
  const { group = '', scope, names = {}, versions = [], conversion = {} } = spec;
  if (group === '') errors.push(required('spec.group'));
  else if (validatedSyntax(group, checkDns1123Subdomain, 'spec.group', errors) && !group.includes('.'))
    errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  if (!scope) errors.push(required('spec.scope'));
  else if (!SCOPES.includes(scope)) errors.push(notSupported('spec.scope', scope, SCOPES));
  if (spec.preserveUnknownFields)
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    );
  validateVersions(versions, old?.versions ?? [], errors);
  validateNames(names, 'spec.names', errors);
  validateConversion(conversion, versions.length, errors);
}

function validatedSyntax(
  text: string,
  check: (text: string) => readonly string[],
  field: string,
  errors: FieldError[],
): boolean {
  const before = errors.length;
  validateSyntax(text, check, field, errors);
  return errors.length === before;
}

/** Source: ValidateCustomResourceDefinitionNames. */
function validateNames(
  names: Decoded<CustomResourceDefinitionNames>,
  path: string,
  errors: FieldError[],
): void {
  const { plural = '', singular = '', kind = '', listKind = '' } = names;
  for (const [field, value] of Object.entries({ plural, singular, kind, listKind })) {
    if (value === '') errors.push(required(`${path}.${field}`));
    else
      for (const problem of checkDns1035Label(value.toLowerCase()))
        errors.push(
          invalid(`${path}.${field}`, value, `may have mixed case, but should otherwise match: ${problem}`),
        );
  }
  if (kind !== '' && kind === listKind)
    errors.push(invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  for (const list of ['shortNames', 'categories'] as const)
    names[list]?.forEach((name, index) =>
      validateSyntax(name, checkDns1035Label, `${path}.${list}[${index}]`, errors),
    );
}

function validateVersions(versions: readonly Version[], old: readonly Version[], errors: FieldError[]): void {
  const seen = versions.map(({ name }) => name);
  if (new Set(seen).size < seen.length)
    errors.push(invalid('spec.versions', seen, 'must contain unique version names'));
  if (versions.filter(({ storage }) => storage).length !== 1)
    errors.push(invalid('spec.versions', seen, 'must have exactly one version marked as storage version'));
  // What all versions have in common is complained about once, as if it stood outside of them.
  const first = versions[0];
  const shared = (
    field: 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields',
  ): boolean => versions.every((version) => semanticEqual(version[field], first?.[field]));
  const isShared = {
    schema: shared('schema'),
    columns: shared('additionalPrinterColumns'),
    parts: shared('subresources'),
  };
  versions.forEach((version, index) => {
    const path = `spec.versions[${index}]`;
    const { name = '', schema, deprecationWarning, deprecated } = version;
    for (const problem of checkDns1035Label(name)) errors.push(invalid(`${path}.name`, name, problem));
    if (deprecationWarning !== undefined && !deprecated)
      errors.push(
        invalid(`${path}.deprecationWarning`, deprecationWarning, 'can only be set for deprecated versions'),
      );
    if (!schema?.openAPIV3Schema) {
      errors.push(required(`${path}.schema.openAPIV3Schema`, 'schemas are required'));
    } else if (!isShared.schema || index === 0)
      validateSchema(
        schema.openAPIV3Schema,
        `${isShared.schema ? 'spec.validation' : `${path}.schema`}.openAPIV3Schema`,
        old.find((version) => version.name === name)?.schema?.openAPIV3Schema,
        errors,
      );
    if (!isShared.parts || index === 0)
      validateSubresources(version, `${isShared.parts ? 'spec' : path}.subresources`, errors);
    if (!isShared.columns || index === 0)
      validateColumns(version, `${isShared.columns ? 'spec' : path}.additionalPrinterColumns`, errors);
  });
}

/** Rules are compiled when they are new: that takes the longest, and what was accepted once stays so. */
function validateSchema(
  schema: StructuralSchema,
  path: string,
  old: StructuralSchema | undefined,
  errors: FieldError[],
): void {
  const before = errors.length;
  validateStructuralSchema(schema, path, errors);
  if (errors.length === before && !(old && sameJson(schema, old))) validateSchemaRules(schema, path, errors);
}

/** Paths of a scale's numbers. Source: ValidateCustomResourceDefinitionSubresources. */
function validateSubresources({ subresources }: Version, path: string, errors: FieldError[]): void {
  const scale = subresources?.scale;
  if (!scale) return;
  for (const [field, root] of [
    ['specReplicasPath', 'spec'],
    ['statusReplicasPath', 'status'],
  ] as const) {
    const value = scale[field] ?? '';
    const at = `${path}.scale.${field}`;
    if (value === '') errors.push(required(at));
    else if (!value.startsWith(`.${root}.`))
      errors.push(invalid(at, value, `should be a json path under .${root}`));
    else if (value.includes('[')) errors.push(invalid(at, value, 'should be a simple json path'));
  }
  const label = scale.labelSelectorPath;
  if (label && !label.startsWith('.spec.') && !label.startsWith('.status.'))
    errors.push(
      invalid(
        `${path}.scale.labelSelectorPath`,
        label,
        'should be a json path under either .spec or .status',
      ),
    );
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = [
  'binary', 'bool', 'byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password',
]; // prettier-ignore

function validateColumns({ additionalPrinterColumns }: Version, path: string, errors: FieldError[]): void {
  additionalPrinterColumns?.forEach(({ name, type, format, jsonPath }, index) => {
    const at = `${path}[${index}]`;
    if (!name) errors.push(required(`${at}.name`));
    if (!type) errors.push(required(`${at}.type`, `must be one of ${COLUMN_TYPES.join(',')}`));
    else if (!COLUMN_TYPES.includes(type))
      errors.push(invalid(`${at}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`));
    if (format && !COLUMN_FORMATS.includes(format))
      errors.push(invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    if (!jsonPath) errors.push(required(`${at}.jsonPath`));
    else if (!jsonPath.startsWith('.'))
      errors.push(invalid(`${at}.jsonPath`, jsonPath, 'must be a simple json path starting with .'));
  });
}

/** Source: validateCustomResourceConversion. */
function validateConversion(
  { strategy, webhook }: Decoded<CustomResourceConversion>,
  versions: number,
  errors: FieldError[],
): void {
  const path = 'spec.conversion';
  if (!strategy) {
    if (versions > 1) errors.push(required(`${path}.strategy`));
    return;
  }
  if (strategy !== 'None' && strategy !== 'Webhook') {
    errors.push(notSupported(`${path}.strategy`, strategy, ['None', 'Webhook']));
    return;
  }
  if (strategy === 'None') {
    if (webhook)
      errors.push(forbidden(`${path}.webhook`, 'should not be set when strategy is not set to Webhook'));
    return;
  }
  if (!webhook?.clientConfig)
    errors.push(required(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook'));
  else validateWebhookClient(webhook.clientConfig, `${path}.webhookClientConfig`, errors);
  const reviews = webhook?.conversionReviewVersions ?? [];
  if (reviews.length === 0) errors.push(required(`${path}.conversionReviewVersions`));
  else if (!reviews.some((version) => version === 'v1' || version === 'v1beta1'))
    errors.push(
      invalid(`${path}.conversionReviewVersions`, reviews, 'must include at least one of v1, v1beta1'),
    );
}
