import type { CelField, CelObjectType, CelType } from '../../../cel/index.js';
import { listOf, mapOf, objectOf } from '../../../cel/index.js';
import type { StructuralSchema } from '../../../schema/index.js';
import { isSchema } from '../structural/structural-defaults.js';

/** Words that an expression cannot use as the name of a field. */
const RESERVED = new Set([
  'true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import',
  'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while',
]); // prettier-ignore
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const METADATA = objectOf('metadata', { name: 'string', generateName: 'string' });
const IDENTITY: Readonly<Record<string, CelType>> = {
  apiVersion: 'string',
  kind: 'string',
  metadata: METADATA,
};

/**
 * The CEL types of the values that a schema describes. Source: SchemaDeclType in apiserver/pkg/cel/common/schemas.go.
 * @param isResource whether the values are whole resources, with apiVersion, kind and a name
 * @returns undefined for values of which the schema says too little
 */
export function ruleTypeOf(schema: StructuralSchema, isResource: boolean): CelType | undefined {
  if (schema['x-kubernetes-int-or-string']) return 'dyn';
  switch (isResource ? 'object' : schema.type) {
    case 'array':
      return arrayType(schema);
    case 'object':
      return objectType(schema, isResource);
    case 'string':
      return textType(schema.format);
    case 'boolean':
      return 'bool';
    case 'number':
      return 'double';
    case 'integer':
      return 'int';
    default:
      return undefined;
  }
}

/** The type of whole resources of a kind that a user defines, for expressions. */
export function structuralType(schema: StructuralSchema): CelType | undefined {
  return ruleTypeOf(schema, true);
}

/** How an expression writes the name of a field; undefined for one that it cannot. Source: Escape in apiserver/pkg/cel/escaping.go. */
export function escapedName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[./-]/g, (part) => ESCAPES[part]!);
}

function arrayType(schema: StructuralSchema): CelType | undefined {
  const { items } = schema;
  const type = isSchema(items) ? innerType(items) : undefined;
  if (!type) return undefined;
  // The order can be ignored only for scalars.
  const isSet = schema['x-kubernetes-list-type'] === 'set' && typeof type === 'string';
  return isSet ? { kind: 'list', items: type, isSet } : listOf(type);
}

function innerType(schema: StructuralSchema): CelType | undefined {
  return ruleTypeOf(schema, schema['x-kubernetes-embedded-resource'] === true);
}

function objectType(schema: StructuralSchema, isResource: boolean): CelType | undefined {
  const { additionalProperties, properties = {} } = schema;
  if (isSchema(additionalProperties)) {
    const type = innerType(additionalProperties);
    return type && mapOf(type);
  }
  return new SchemaObjectType(properties, isResource);
}

/** Looks at those properties alone that a rule asks for. */
class SchemaObjectType implements CelObjectType {
  readonly kind = 'object';
  readonly name = 'object';
  private readonly fields = new Map<string, CelField | undefined>();
  private keys: ReadonlyMap<string, string> | undefined;

  constructor(
    private readonly properties: Readonly<Record<string, unknown>>,
    private readonly isResource: boolean,
  ) {}

  field(name: string): CelField | undefined {
    if (!this.fields.has(name)) this.fields.set(name, this.find(name));
    return this.fields.get(name);
  }

  private find(name: string): CelField | undefined {
    if (this.isResource && Object.hasOwn(IDENTITY, name)) return { key: name, type: IDENTITY[name]! };
    this.keys ??= new Map(Object.keys(this.properties).map((key) => [escapedName(key) ?? '', key]));
    const key = this.keys.get(name);
    const property = key === undefined ? undefined : this.properties[key];
    const type = isSchema(property) ? innerType(property) : undefined;
    return key !== undefined && type ? { key, type } : undefined;
  }
}

function textType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return 'bytes';
    case 'duration':
      return 'duration';
    case 'date':
    case 'date-time':
      return 'timestamp';
    default:
      return 'string';
  }
}
