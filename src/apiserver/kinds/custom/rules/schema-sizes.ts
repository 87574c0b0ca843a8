import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { DeclaredSizes } from '../../../cel/index.js';
import type { StructuralSchema } from '../../../schema/index.js';
import { isSchema } from '../structural/structural-defaults.js';
import { escapedName, ruleTypeOf } from './rule-types.js';

/**
 * The largest request, from which the sizes follow that a schema does not name. Source:
 * apiserver/pkg/apis/cel/config.go.
 */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
const BRACKETS = 2;
const BYTES_OF_A_CHARACTER = 4;

interface TextSizes {
  readonly minJson: number;
  /** Undefined where the schema may say it. */
  readonly max?: number;
}

/** Source: apiserver/pkg/cel/limits.go. */
const FORMATS: Readonly<Record<string, TextSizes>> = {
  duration: { minJson: 3, max: 32 },
  date: { minJson: 12, max: 12 },
  'date-time': { minJson: 21, max: 32 },
};
const TEXT: TextSizes = { minJson: 2 };
const MIN_JSON: Readonly<Record<string, number>> = { boolean: 4, number: 1, integer: 1 };

/**
 * How large the values may be that a schema describes. Source: SchemaDeclType in apiserver/pkg/cel/common/schemas.go.
 * Each part is looked at once, however many rules ask for it.
 */
export class SchemaSizes {
  private readonly known = new Map<StructuralSchema, DeclaredSizes | undefined>();

  /**
   * @param isResource whether the values are whole resources, with apiVersion, kind and a name
   * @returns undefined for values of which the schema says too little for rules
   */
  of(
    schema: StructuralSchema,
    isResource = schema['x-kubernetes-embedded-resource'] === true,
  ): DeclaredSizes | undefined {
    if (!this.known.has(schema)) this.known.set(schema, this.find(schema, isResource));
    return this.known.get(schema);
  }

  private find(schema: StructuralSchema, isResource: boolean): DeclaredSizes | undefined {
    if (!ruleTypeOf(schema, isResource)) return undefined;
    if (schema['x-kubernetes-int-or-string']) return simple(maxText(schema), 1);
    switch (isResource ? 'object' : schema.type) {
      case 'array':
        return this.list(schema);
      case 'object':
        return isSchema(schema.additionalProperties) ? this.map(schema) : this.object(schema, isResource);
      case 'string': {
        const { minJson, max } = ownField(FORMATS, schema.format ?? '') ?? TEXT;
        return simple(max ?? maxText(schema), minJson);
      }
      default:
        return simple(0, ownField(MIN_JSON, schema.type ?? '') ?? 1);
    }
  }

  private list({ items, maxItems }: StructuralSchema): DeclaredSizes | undefined {
    const inner = isSchema(items) ? this.of(items) : undefined;
    if (!inner) return undefined;
    const max = atLeastNone(maxItems) ?? Math.floor((MAX_REQUEST_BYTES - BRACKETS) / (inner.minJson + 1));
    return { ...simple(max, BRACKETS), items: () => inner };
  }

  private map({ additionalProperties, maxProperties }: StructuralSchema): DeclaredSizes | undefined {
    const inner = isSchema(additionalProperties) ? this.of(additionalProperties) : undefined;
    if (!inner) return undefined;
    // A key of two characters, its quotes, a colon and a comma.
    const max =
      atLeastNone(maxProperties) ?? Math.floor((MAX_REQUEST_BYTES - BRACKETS) / (inner.minJson + 6));
    return { ...simple(max, BRACKETS), items: () => inner, keys: () => KEY };
  }

  private object({ properties = {}, required = [] }: StructuralSchema, isResource: boolean): DeclaredSizes {
    const fields = new Map<string, DeclaredSizes>();
    const isRequired = new Set(required);
    let minJson = BRACKETS;
    for (const [name, property] of Object.entries(properties)) {
      const sizes = isSchema(property) ? this.of(property) : undefined;
      if (!sizes) continue;
      const escaped = escapedName(name);
      if (escaped !== undefined) fields.set(escaped, sizes);
      if (isRequired.has(name) && property.default === undefined) minJson += name.length + sizes.minJson + 4;
    }
    if (isResource) for (const [name, sizes] of IDENTITY) fields.set(name, sizes);
    return { ...simple(0, minJson), field: (name) => fields.get(name) };
  }
}

function simple(max: number, minJson: number): DeclaredSizes {
  return { max, minJson, items: nothing, keys: nothing, field: nothing };
}

function nothing(): undefined {
  return undefined;
}

/** The genuine estimate has keys cost nothing. */
const KEY = simple(0, 2);
const NAME = simple(MAX_REQUEST_BYTES - BRACKETS, 2);
const IDENTITY = new Map<string, DeclaredSizes>([
  ['apiVersion', NAME],
  ['kind', NAME],
  [
    'metadata',
    {
      ...simple(0, BRACKETS),
      field: (name) => (name === 'name' || name === 'generateName' ? NAME : undefined),
    },
  ],
]);

/** In bytes: schemas count characters. */
function maxText(schema: StructuralSchema): number {
  const { format, enum: values = [] } = schema;
  const max = atLeastNone(schema.maxLength);
  if (max !== undefined) return format === 'byte' ? max : max * BYTES_OF_A_CHARACTER;
  const isText = !schema['x-kubernetes-int-or-string'] && format !== 'byte';
  if (!isText || values.length === 0) return MAX_REQUEST_BYTES - BRACKETS;
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
}

function atLeastNone(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(0, value);
}
