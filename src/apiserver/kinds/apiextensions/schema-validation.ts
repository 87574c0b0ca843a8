import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '@rollkeeper/machinery/types/apiextensions-v1';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../schema/index.js';
import { fieldAt } from '../custom/rules/relative-path.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, forbidden, invalid, required, tooMany } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { unreadable, validateOpenSchema, validateRootWithStatus } from './open-schema.js';
import { validateDefaults } from './schema-defaults.js';
import { RuleCompiler } from './schema-rules.js';
import { validateStructuralSchema } from './structural-schema.js';
import type { Tolerance } from './list-and-map-types.js';
import { isSchema } from '../custom/structural/structural-defaults.js';
import { validateIdentities, validateSet } from './list-and-map-types.js';

const STRICT: Tolerance = { types: false, sets: false, keys: false };
const TYPES = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string']);

/**
 * The rules that the schemas before an update broke. Source: requireValidPropertyType, requireAtomicSetType and
 * requireMapListKeysMapSetValidation.
 */
function toleranceOf(schemas: readonly StructuralSchema[]): Tolerance {
  if (schemas.length === 0) return STRICT;
  const some = (isBroken: (schema: StructuralSchema) => boolean): boolean =>
    schemas.some((schema) => someSchema(schema, isBroken));
  return {
    types: some(({ type }) => type !== undefined && type !== '' && !TYPES.has(type)),
    sets: some((schema) => schema['x-kubernetes-list-type'] === 'set' && finds(validateSet, schema)),
    keys: some((schema) => finds(validateIdentities, schema)),
  };
}

function finds(
  validate: (schema: StructuralSchema, path: string, errors: FieldError[]) => void,
  schema: StructuralSchema,
): boolean {
  const errors: FieldError[] = [];
  validate(schema, '', errors);
  return errors.length > 0;
}

/** Whether a schema, or any below it, is so. */
function someSchema(schema: StructuralSchema, isSo: (schema: StructuralSchema) => boolean): boolean {
  if (isSo(schema)) return true;
  const { not, items, additionalProperties, properties = {}, allOf = [], anyOf = [], oneOf = [] } = schema;
  const parts = [
    not,
    items,
    additionalProperties,
    ...Object.values(properties),
    ...allOf,
    ...anyOf,
    ...oneOf,
  ];
  return parts.some((part) => isSchema(part) && someSchema(part, isSo));
}

type Version = Decoded<CustomResourceDefinitionVersion>;
type Selectable = Version['selectableFields'];

const MAX_SELECTABLE = 8;
const SELECTABLE_TYPES = new Set(['string', 'boolean', 'integer']);

/** Judges the schemas of one definition, beside those that it had before. */
export class SchemaValidation {
  /** By name; of two with one name, the first. */
  private readonly before: ReadonlyMap<string | undefined, Version>;
  private readonly tolerance: Tolerance;

  constructor(old: Decoded<CustomResourceDefinitionSpec> | undefined) {
    const versions = old?.versions ?? [];
    this.before = new Map(versions.toReversed().map((version) => [version.name, version]));
    this.tolerance = toleranceOf(versions.flatMap(({ schema }) => schema?.openAPIV3Schema ?? []));
  }

  /**
   * Rules are compiled when they are new: that takes the longest, and what was accepted once stays so.
   * Source: validateCustomResourceDefinitionValidation.
   * @param path of the schema's holder: `spec.validation`
   * @param hasStatus whether the status is a subresource
   */
  validate(
    holder: Version['schema'],
    path: string,
    hasStatus: boolean,
    version: string,
    errors: FieldError[],
  ): void {
    const schema: StructuralSchema | undefined = holder?.openAPIV3Schema;
    if (!schema) return;
    const at = `${path}.openAPIV3Schema`;
    const before = errors.length;
    if (hasStatus) validateRootWithStatus(internalForm('apiextensions.JSONSchemaProps', schema), at, errors);
    if (schema.nullable) errors.push(forbidden(`${at}.nullable`, 'nullable cannot be true at the root'));
    const problem = unreadable(schema);
    let isStructural = problem === undefined;
    if (isStructural) {
      const start = errors.length;
      validateStructuralSchema(schema, at, errors);
      if (errors.length === start) validateDefaults(schema, at, errors);
      isStructural = errors.length === start;
    }
    const isKnown = sameJson(schema, this.schemaBefore(version));
    const compiler = isStructural && !isKnown ? RuleCompiler.of(schema, at, errors) : undefined;
    validateOpenSchema(schema, at, { compiler, tolerance: this.tolerance }, errors);
    if (problem !== undefined && errors.length === before) errors.push(invalid(at, '', problem));
    compiler?.judgeTotal(at, errors);
  }

  /** Source: ValidateCustomResourceSelectableFields. */
  validateSelectable(
    fields: Selectable,
    schema: StructuralSchema,
    path: string,
    version: string,
    errors: FieldError[],
  ): void {
    const problem = unreadable(schema);
    if (problem !== undefined) errors.push(invalid(`${path}.schema.openAPIV3Schema`, '', problem));
    const known = new Set<string>();
    fields?.forEach(({ jsonPath = '' }, index) =>
      validateField(jsonPath, schema, { at: `${path}.selectableFields[${index}].jsonPath`, known }, errors),
    );
    const before = this.before.get(version)?.selectableFields ?? [];
    const isOld = before.length > MAX_SELECTABLE && sameJson(before, fields);
    if (known.size > MAX_SELECTABLE && !isOld)
      errors.push(tooMany(`${path}.selectableFields`, known.size, MAX_SELECTABLE));
  }

  private schemaBefore(version: string): StructuralSchema | undefined {
    return this.before.get(version)?.schema?.openAPIV3Schema;
  }
}

function validateField(
  jsonPath: string,
  schema: StructuralSchema,
  { at, known }: { at: string; known: Set<string> },
  errors: FieldError[],
): void {
  if (jsonPath === '') {
    errors.push(required(at));
    return;
  }
  const found = fieldAt(jsonPath, schema, false);
  if ('problem' in found) {
    errors.push(invalid(at, jsonPath, `is an invalid path: ${found.problem}`));
    return;
  }
  if (found.root === 'metadata') errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
  if (!SELECTABLE_TYPES.has(found.schema?.type ?? ''))
    errors.push(
      invalid(
        at,
        jsonPath,
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ),
    );
  if (known.has(found.shown)) errors.push(duplicate(at, jsonPath));
  known.add(found.shown);
}
