import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '@rollkeeper/machinery/types/apiextensions-v1';
import { checkDns1035Label, checkDns1123Subdomain, FIELD_IMMUTABLE } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { validateWebhookClient } from '../validation/webhook-clients.js';
import { validateSyntax } from '../validation/words.js';
import { hoisted } from './hoisted-fields.js';
import type { Shared } from './hoisted-fields.js';
import { reservationOf } from './reserved-groups.js';
import { SchemaValidation } from './schema-validation.js';

type Definition = DecodedObject<CustomResourceDefinition>;
type Spec = Decoded<CustomResourceDefinitionSpec>;
type Version = Decoded<CustomResourceDefinitionVersion>;

const SCOPES = ['Cluster', 'Namespaced'];
export const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io';
const PROTECTED = /(^|\.)(k8s\.io|kubernetes\.io)$/;

/**
 * Stricter than the genuine server, which takes definitions in the groups of built-in kinds. Those that an older release
 * took can still be changed and deleted.
 */
export function validateNewDefinition(definition: Readonly<Definition>, errors: FieldError[]): void {
  validateDefinition(definition, errors);
  const { group = '' } = definition.spec ?? {};
  // A name without a dot is complained about already.
  const reserved = group.includes('.') ? reservationOf(group) : undefined;
  if (reserved !== undefined) errors.push(forbidden('spec.group', reserved));
}

/** Source: ValidateCustomResourceDefinition in apiextensions-apiserver/pkg/apis/apiextensions/validation. */
function validateDefinition(
  { metadata, spec = {}, status }: Readonly<Definition>,
  errors: FieldError[],
  old?: Readonly<Definition>,
): void {
  const { names, group = '', versions = [] } = spec;
  if (!old && metadata.name && metadata.name !== `${names?.plural ?? ''}.${group}`)
    errors.push(invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  validateSpec(spec, old?.spec, errors);
  if (old) validateUnchanged(spec, old, errors);
  validateStoredVersions(status?.storedVersions ?? [], versions, errors);
  validateApproval(metadata.annotations, group, old, errors);
  if (spec.preserveUnknownFields && !old?.spec?.preserveUnknownFields)
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    );
}

export function validateDefinitionUpdate(
  definition: Readonly<Definition>,
  old: Readonly<Definition>,
  errors: FieldError[],
): void {
  validateDefinition(definition, errors, old);
}

function validateUnchanged(
  { group = '', scope = '', names }: Spec,
  { spec: old, status }: Readonly<Definition>,
  errors: FieldError[],
): void {
  const isEstablished = isEstablishedIn(status);
  const unchanged = (field: string, value: string, before = ''): void => {
    if (value !== before) errors.push(invalid(`spec.${field}`, value, FIELD_IMMUTABLE));
  };
  if (isEstablished) {
    unchanged('scope', scope, old?.scope);
    unchanged('names.kind', names?.kind ?? '', old?.names?.kind);
  }
  unchanged('group', group, old?.group);
  unchanged('names.plural', names?.plural ?? '', old?.names?.plural);
}

function isEstablishedIn(status: Definition['status']): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
}

/** Source: ValidateCustomResourceDefinitionStoredVersions. */
function validateStoredVersions(
  stored: readonly string[],
  versions: readonly Version[],
  errors: FieldError[],
): void {
  const path = 'status.storedVersions';
  if (stored.length === 0) {
    errors.push(invalid(path, undefined, 'must have at least one stored version'));
    return;
  }
  const seen = new Set(stored);
  // A version that is there twice is stored once.
  for (const { name = '', storage } of versions)
    if (!seen.delete(name) && storage)
      errors.push(invalid(path, stored, `must have the storage version ${name}`));
  const names = new Set(versions.map(({ name }) => name));
  const lastAt = new Map(stored.map((name, index) => [name, index]));
  stored.forEach((name, index) => {
    if (names.has(name) || lastAt.get(name) !== index) return;
    errors.push(
      invalid(
        `${path}[${index}]`,
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    );
  });
}

export type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid';

/** Reads the approval of a definition in a group of Kubernetes itself; undefined for one of another group. */
export function approvalOfDefinition({ metadata, spec }: Readonly<Definition>): Approval | undefined {
  return PROTECTED.test(spec?.group ?? '')
    ? approvalOf(metadata.annotations?.[APPROVAL_ANNOTATION] ?? '')
    : undefined;
}

function approvalOf(annotation: string): Approval {
  if (annotation === '') return 'missing';
  if (annotation.startsWith('unapproved')) return 'bypassed';
  return URL.canParse(annotation) && /^[^:]+:\/\/[^/]/.test(annotation) ? 'approved' : 'invalid';
}

/** Groups of Kubernetes itself. What has not changed is not judged again. Source: validateAPIApproval. */
function validateApproval(
  annotations: Readonly<Record<string, string>> | undefined,
  group: string,
  old: Readonly<Definition> | undefined,
  errors: FieldError[],
): void {
  if (!PROTECTED.test(group)) return;
  const text = annotations?.[APPROVAL_ANNOTATION] ?? '';
  const approval = approvalOf(text);
  if (old && approvalOf(old.metadata.annotations?.[APPROVAL_ANNOTATION] ?? '') === approval) return;
  const field = `metadata.annotations[${APPROVAL_ANNOTATION}]`;
  const [before, after] = [
    `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`,
    ', see https://github.com/kubernetes/enhancements/pull/1111',
  ];
  if (approval === 'missing') errors.push(required(field, `${before}${after}`));
  if (approval === 'invalid')
    errors.push(
      invalid(field, text, `${before} with either a URL or a reason starting with "unapproved"${after}`),
    );
}

/** Source: validateCustomResourceDefinitionSpec. */
function validateSpec(spec: Spec, old: Spec | undefined, errors: FieldError[]): void {
  const { group = '', scope, names = {}, versions = [], conversion = {} } = spec;
  const problems = checkDns1123Subdomain(group);
  if (group === '') errors.push(required('spec.group'));
  else if (problems.length > 0) errors.push(invalid('spec.group', group, problems.join(',')));
  else if (!group.includes('.'))
    errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  if (!scope) errors.push(required('spec.scope'));
  else if (!SCOPES.includes(scope)) errors.push(notSupported('spec.scope', scope, SCOPES));
  const { versions: own, shared } = hoisted(versions);
  // All versions say the same, which is then said once.
  if (!shared.schema?.openAPIV3Schema)
    own.forEach(({ schema }, index) => {
      if (!schema?.openAPIV3Schema) errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    });
  const schemas = new SchemaValidation(old);
  validateVersions(own, shared, schemas, errors);
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const)
    if (!names[field]) errors.push(required(`spec.names.${field}`));
  validateNames(names, 'spec.names', errors);
  validateShared(shared, versions, schemas, errors);
  validateConversion(conversion, errors);
}

/** Source: ValidateCustomResourceDefinitionNames. */
export function validateNames(
  names: Decoded<CustomResourceDefinitionNames>,
  path: string,
  errors: FieldError[],
): void {
  const { plural = '', singular = '', kind = '', listKind = '' } = names;
  const check = (field: string, value: string, checked: string, before: string): void => {
    const problems = checked === '' ? [] : checkDns1035Label(checked);
    if (problems.length > 0)
      errors.push(invalid(`${path}.${field}`, value, `${before}${problems.join(',')}`));
  };
  const mixed = 'may have mixed case, but should otherwise match: ';
  check('plural', plural, plural, '');
  check('singular', singular, singular, '');
  check('kind', kind, kind.toLowerCase(), mixed);
  check('listKind', listKind, listKind.toLowerCase(), mixed);
  const checkList = (list: 'shortNames' | 'categories'): void =>
    names[list]?.forEach((name, index) => {
      const problems = checkDns1035Label(name);
      if (problems.length > 0) errors.push(invalid(`${path}.${list}[${index}]`, name, problems.join(',')));
    });
  checkList('shortNames');
  if (kind !== '' && kind === listKind)
    errors.push(invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  checkList('categories');
}

function validateVersions(
  versions: readonly Version[],
  shared: Shared,
  schemas: SchemaValidation,
  errors: FieldError[],
): void {
  const path = 'spec.versions';
  const complain = (detail: string): void =>
    void errors.push(invalid(path, versions.length === 0 ? undefined : versions.map(shownVersion), detail));
  const seen = versions.map(({ name = '' }) => name);
  const firstOf = new Map(versions.toReversed().map((version) => [version.name ?? '', version]));
  versions.forEach((version, index) => {
    const { name = '' } = version;
    const problems = checkDns1035Label(name);
    if (problems.length > 0) errors.push(invalid(`${path}[${index}].name`, name, problems.join(',')));
    // The first of two with one name counts.
    const { subresources = shared.subresources } = firstOf.get(name) ?? version;
    validateVersion(version, `${path}[${index}]`, subresources?.status !== undefined, schemas, errors);
  });
  if (new Set(seen).size < seen.length) complain('must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1)
    complain('must have exactly one version marked as storage version');
  const first = seen[0] ?? '';
  const problems = first === '' ? [] : checkDns1035Label(first);
  if (problems.length > 0) errors.push(invalid('spec.version', first, problems.join(',')));
}

function shownVersion(version: Version): unknown {
  return internalForm('apiextensions.CustomResourceDefinitionVersion', version);
}

/** Source: validateCustomResourceDefinitionVersion. */
function validateVersion(
  version: Version,
  path: string,
  hasStatus: boolean,
  schemas: SchemaValidation,
  errors: FieldError[],
): void {
  const { name = '', schema, deprecationWarning, deprecated = false } = version;
  for (const problem of checkDeprecation(deprecated, deprecationWarning))
    errors.push(invalid(`${path}.deprecationWarning`, deprecationWarning, problem));
  schemas.validate(schema, `${path}.schema`, hasStatus, name, errors);
  validateSubresources(version.subresources, `${path}.subresources`, errors);
  validateColumns(version.additionalPrinterColumns, `${path}.additionalPrinterColumns`, errors);
  if ((version.selectableFields ?? []).length === 0) return;
  const field = `${path}.selectableFields`;
  if (!schema?.openAPIV3Schema)
    errors.push(invalid(field, '', 'may only be set when `version.schema.openAPIV3Schema` is not included'));
  else schemas.validateSelectable(version.selectableFields, schema.openAPIV3Schema, path, name, errors);
}

function checkDeprecation(isDeprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return [];
  if (!isDeprecated) return ['can only be set for deprecated versions'];
  const problems: string[] = [];
  if (Buffer.byteLength(warning) > 256) problems.push('must be <= 256 characters long');
  if (warning === '') problems.push('must not be an empty string');
  const printable = /^(?:[\p{L}\p{M}\p{N}\p{P}\p{S} ])$/u;
  let index = 0;
  for (const letter of warning) {
    if (!printable.test(letter)) {
      problems.push(
        `must only contain printable UTF-8 characters; non-printable character found at index ${index}`,
      );
      break;
    }
    index += Buffer.byteLength(letter);
  }
  return problems;
}

/** Validates the fields that all versions have in common, as if they stood outside of them. */
function validateShared(
  { schema, subresources, additionalPrinterColumns, selectableFields = [] }: Shared,
  versions: readonly Version[],
  schemas: SchemaValidation,
  errors: FieldError[],
): void {
  const hasStatus = versions.some((version) => version.subresources?.status !== undefined);
  schemas.validate(schema, 'spec.validation', hasStatus, versions[0]?.name ?? '', errors);
  validateSubresources(subresources, 'spec.subresources', errors);
  validateColumns(additionalPrinterColumns, 'spec.additionalPrinterColumns', errors);
  if (selectableFields.length === 0) return;
  if (!schema)
    errors.push(invalid('spec.selectableFields', '', 'may only be set when validations.schema is included'));
  else
    schemas.validateSelectable(
      selectableFields,
      schema.openAPIV3Schema ?? {},
      'spec',
      versions[0]?.name ?? '',
      errors,
    );
}

/** Paths of a scale's numbers. Source: ValidateCustomResourceDefinitionSubresources. */
function validateSubresources(
  subresources: Version['subresources'],
  path: string,
  errors: FieldError[],
): void {
  const scale = subresources?.scale;
  if (!scale) return;
  const check = (field: keyof typeof scale, roots: readonly string[], isRequired: boolean): void => {
    const value = scale[field] ?? '';
    const at = `${path}.scale.${field}`;
    if (value === '') {
      if (isRequired) errors.push(required(at));
    } else if (!value.startsWith('.'))
      errors.push(invalid(at, value, 'must be a simple json path starting with .'));
    else if (!roots.some((root) => value.startsWith(`${root}.`)))
      errors.push(
        invalid(at, value, `should be a json path under ${isRequired ? '' : 'either '}${roots.join(' or ')}`),
      );
  };
  check('specReplicasPath', ['.spec'], true);
  check('statusReplicasPath', ['.status'], true);
  check('labelSelectorPath', ['.spec', '.status'], false);
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** Source: ValidateCustomResourceColumnDefinition. */
function validateColumns(
  columns: Version['additionalPrinterColumns'],
  path: string,
  errors: FieldError[],
): void {
  columns?.forEach(({ name, type, format, jsonPath }, index) => {
    const at = `${path}[${index}]`;
    if (!name) errors.push(required(`${at}.name`));
    if (!type) errors.push(required(`${at}.type`, `must be one of ${COLUMN_TYPES.join(',')}`));
    else if (!COLUMN_TYPES.includes(type))
      errors.push(invalid(`${at}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`));
    if (format && !COLUMN_FORMATS.includes(format))
      errors.push(invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    if (!jsonPath) errors.push(required(`${at}.JSONPath`));
    else if (!jsonPath.startsWith('.'))
      errors.push(invalid(`${at}.JSONPath`, jsonPath, 'must be a simple json path starting with .'));
  });
}

/** Source: validateCustomResourceConversion. */
function validateConversion(
  { strategy, webhook }: Decoded<CustomResourceConversion>,
  errors: FieldError[],
): void {
  const path = 'spec.conversion';
  const strategies = ['None', 'Webhook'];
  if (!strategy) errors.push(required(`${path}.strategy`));
  else if (!strategies.includes(strategy))
    errors.push(notSupported(`${path}.strategy`, strategy, strategies));
  const client = webhook?.clientConfig;
  const reviews = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (client) errors.push(forbidden(`${path}.webhookClientConfig`, detail));
    if (reviews.length > 0) errors.push(forbidden(`${path}.conversionReviewVersions`, detail));
    return;
  }
  if (!client)
    errors.push(required(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook'));
  else validateWebhookClient(client, `${path}.webhookClientConfig`, errors);
  validateReviewVersions(reviews, `${path}.conversionReviewVersions`, errors);
}

function validateReviewVersions(versions: readonly string[], path: string, errors: FieldError[]): void {
  if (versions.length === 0) {
    errors.push(required(path));
    return;
  }
  const seen = new Set<string>();
  versions.forEach((version, index) => {
    if (seen.has(version)) errors.push(invalid(`${path}[${index}]`, version, 'duplicate version'));
    else validateSyntax(version, checkDns1035Label, `${path}[${index}]`, errors);
    seen.add(version);
  });
  if (!versions.some((version) => version === 'v1' || version === 'v1beta1'))
    errors.push(invalid(path, versions, 'must include at least one of v1, v1beta1'));
}
