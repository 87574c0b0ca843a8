import type { StructuralSchema } from '../../schema/index.js';
import { isResourceField } from '../../schema/index.js';
import { isSchema } from '../custom/structural/structural-defaults.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported } from '../validation/field-errors.js';
import { validateListsAndMaps } from './list-and-map-types.js';
import { repetitionsBelow } from './rule-costs.js';
import type { RuleCompiler, RulePlace } from './schema-rules.js';
import { validateRuleFields } from './schema-rules.js';
import type { Tolerance } from './list-and-map-types.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const UNSUPPORTED = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const;

/** The position of a part of the schema. */
interface Place {
  readonly path: string;
  /** Why there may be no defaults. */
  readonly forbidsDefaults?: string;
  /** Below `apiVersion`, `kind` or `metadata` of a resource. */
  readonly isInsideMeta: boolean;
  /** Absent where rules are not compiled: below logical keywords, and if the schema is not structural. */
  readonly rules?: Pick<RulePlace, 'isResource' | 'repetitions'>;
  /** The list or map whose values have no old ones. */
  readonly uncorrelated: string | undefined;
}

interface Context {
  readonly compiler: RuleCompiler | undefined;
  readonly tolerance: Tolerance;
  readonly schemaErrors: FieldError[];
  readonly ruleErrors: FieldError[];
}

/**
 * Validates a schema, structural or not, and its rules. Source: ValidateCustomResourceDefinitionOpenAPISchema in
 * apiextensions-apiserver/pkg/apis/apiextensions/validation.
 * @param compiler absent if the rules are not to be compiled
 */
export function validateOpenSchema(
  schema: StructuralSchema,
  path: string,
  { compiler, tolerance }: { compiler: RuleCompiler | undefined; tolerance: Tolerance },
  errors: FieldError[],
): void {
  const context: Context = { compiler, tolerance, schemaErrors: [], ruleErrors: [] };
  const rules = { isResource: true, repetitions: 1 };
  visit(schema, { path, isInsideMeta: false, rules, uncorrelated: undefined }, context, true);
  errors.push(...context.schemaErrors, ...context.ruleErrors);
}

function visit(schema: StructuralSchema, place: Place, context: Context, isRoot = false): void {
  const { path } = place;
  const errors = context.schemaErrors;
  const before = errors.length;
  validateStandard(schema, place, context);
  if (schema.uniqueItems)
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  visitFields(schema, place, context, isRoot);
  const { rules: _rules, ...judging } = place;
  const below = (part: unknown, step: string): void => {
    if (isSchema(part)) visit(part, { ...judging, path: `${path}.${step}` }, context);
  };
  below(schema.not, 'not');
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const)
    schema[name]?.forEach((part, index) => below(part, `${name}[${index}]`));
  for (const name of ['definitions', 'dependencies'] as const) {
    if (name === 'dependencies') visitItems(schema, place, context);
    for (const [key, part] of Object.entries(schema[name] ?? {})) below(part, `${name}[${key}]`);
  }
  validateListsAndMaps(schema, path, context.tolerance, errors);
  validateRuleFields(schema, path, errors);
  if (errors.length === before && place.rules)
    context.compiler?.compile(
      schema,
      { path, ...place.rules, uncorrelated: place.uncorrelated },
      context.ruleErrors,
    );
}

/** Source: specStandardValidatorV3. */
function validateStandard(
  schema: StructuralSchema,
  { path, forbidsDefaults, isInsideMeta }: Place,
  { schemaErrors: errors, tolerance }: Context,
): void {
  const { type } = schema;
  if (type && !TYPES.includes(type) && !tolerance.types)
    errors.push(notSupported(`${path}.type`, type, TYPES));
  if (schema.default !== undefined && forbidsDefaults !== undefined)
    errors.push(forbidden(`${path}.default`, `must not be set ${forbidsDefaults}`));
  for (const field of UNSUPPORTED)
    if (schema[field] !== undefined) errors.push(forbidden(`${path}.${field}`, `${field} is not supported`));
  if (type === 'null')
    errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (Array.isArray(schema.items) && schema.items.length > 0)
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  if (isInsideMeta && schema['x-kubernetes-embedded-resource'])
    errors.push(
      forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'),
    );
}

function visitFields(schema: StructuralSchema, place: Place, context: Context, isRoot: boolean): void {
  const { path } = place;
  const { additionalProperties, properties = {} } = schema;
  if (additionalProperties !== undefined) {
    const field = `${path}.additionalProperties`;
    if (Object.keys(properties).length > 0 && additionalProperties !== true)
      context.schemaErrors.push(forbidden(field, 'additionalProperties and properties are mutual exclusive'));
    // Without a value, what would be pruned is not known.
    const forbidsDefaults = 'inside additionalProperties applying to object metadata';
    if (isSchema(additionalProperties))
      visit(
        additionalProperties,
        {
          ...inner(schema, additionalProperties, place),
          path: field,
          ...(place.isInsideMeta && { forbidsDefaults }),
        },
        context,
      );
  }
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
  for (const [name, property] of Object.entries(properties)) {
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource'] === true) && isResourceField(name);
    visit(
      property,
      {
        ...inner(schema, property, place),
        path: `${path}.properties[${name}]`,
        ...(isAtomic && { uncorrelated: place.uncorrelated ?? path }),
        ...(isMeta && { isInsideMeta: true }),
        ...(isMeta && isRoot && { forbidsDefaults: `in top-level ${name}` }),
      },
      context,
    );
  }
}

function visitItems(schema: StructuralSchema, place: Place, context: Context): void {
  const { path } = place;
  const items: unknown = schema.items;
  const isMap = schema['x-kubernetes-list-type'] === 'map';
  const visitItem = (item: StructuralSchema, at: string): void =>
    visit(
      item,
      {
        ...inner(schema, item, place),
        path: at,
        ...(!isMap && { uncorrelated: place.uncorrelated ?? path }),
      },
      context,
    );
  if (isSchema(items)) visitItem(items, `${path}.items`);
  else if (Array.isArray(items))
    items.forEach((item: unknown, index) => isSchema(item) && visitItem(item, `${path}.items[${index}]`));
}

/** The place of a value below, but for its path. */
function inner(schema: StructuralSchema, part: StructuralSchema, place: Place): Place {
  if (!place.rules) return place;
  return {
    ...place,
    rules: {
      isResource: part['x-kubernetes-embedded-resource'] === true,
      repetitions: repetitionsBelow(schema, place.rules.repetitions),
    },
  };
}

/** Fields below the root that the status subresource leaves to it. Source: allowedFieldsAtRootSchema. */
const WITH_STATUS = [
  'Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum', 'ExclusiveMinimum', 'MaxLength',
  'MinLength', 'Pattern', 'MaxItems', 'MinItems', 'UniqueItems', 'MultipleOf', 'Required', 'Items', 'Properties',
  'ExternalDocs', 'Example', 'XPreserveUnknownFields', 'XValidations',
]; // prettier-ignore

/**
 * Whether a schema keeps what it says of the status where only `properties.status` of it is read.
 * @param shown its internal form
 */
export function validateRootWithStatus(
  shown: Readonly<Record<string, unknown>>,
  path: string,
  errors: FieldError[],
): void {
  for (const [name, value] of Object.entries(shown)) {
    if (value === null || value === '' || value === false) continue;
    if (name === 'Type') {
      if (value === 'object') continue;
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      errors.push(invalid(`${path}.type`, value, detail));
      return;
    }
    if (!WITH_STATUS.includes(name)) {
      const detail = `only [${WITH_STATUS.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
      errors.push(invalid(path, shown, detail));
      return;
    }
  }
}

/** Why a schema cannot even be read as a structural one. Source: validateUnsupportedFields. */
export function unreadable(schema: StructuralSchema): string | undefined {
  for (const [field, name] of [
    ['id', 'id'],
    ['$schema', 'schema'],
    ['$ref', '$ref'],
    ['patternProperties', 'patternProperties'],
    ['dependencies', 'dependencies'],
    ['additionalItems', 'additionalItems'],
    ['definitions', 'definitions'],
  ] as const)
    if (schema[field] !== undefined && schema[field] !== '')
      return `OpenAPIV3Schema '${name}' is not supported`;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  const items: unknown = schema.items;
  if (Array.isArray(items) && items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  const parts: unknown[] = [
    schema.not,
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    items,
    ...Object.values(schema.properties ?? {}),
    schema.additionalProperties,
  ];
  for (const part of parts) {
    const problem = isSchema(part) ? unreadable(part) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
