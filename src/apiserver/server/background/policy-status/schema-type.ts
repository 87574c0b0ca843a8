import type { CelField, CelObjectType, CelType } from '../../../cel/index.js';
import { ANY_VALUE, listOf, mapOf } from '../../../cel/index.js';
import { structuralType } from '../../../kinds/index.js';
import type { ObjectSchema, SchemaRegistry } from '../../../schema/index.js';

/** Formats of texts that are read as something else. */
const TEXT_TYPES: Readonly<Record<string, CelType>> = {
  'date-time': 'timestamp',
  byte: 'bytes',
  'int-or-string': 'dyn',
  quantity: 'dyn',
};

/** The types of the server's objects in expressions; each type is read once. */
export class SchemaTypes {
  private readonly known = new Map<string, CelType>();

  constructor(private readonly schemas: SchemaRegistry) {}

  /** @param name of a schema; of one that is not known, anything may be said */
  of(name: string): CelType {
    const known = this.known.get(name);
    if (known) return known;
    const schema = this.schemas.get(name);
    const type = schema ? this.typeOf(schema) : ANY_VALUE;
    this.known.set(name, type);
    return type;
  }

  private typeOf(schema: ObjectSchema): CelType {
    switch (schema.type) {
      case 'ref':
        return this.of(schema.ref ?? '');
      case 'object':
        return this.objectType(schema);
      case 'array':
        return listOf(schema.items ? this.typeOf(schema.items) : 'dyn');
      case 'map':
        return mapOf(schema.items ? this.typeOf(schema.items) : 'dyn');
      case 'string':
        return TEXT_TYPES[schema.format ?? ''] ?? 'string';
      case 'integer':
        return 'int';
      case 'number':
        return 'double';
      case 'boolean':
        return 'bool';
      default:
        return 'dyn';
    }
  }

  private objectType({ properties, structural }: ObjectSchema): CelType {
    if (structural) return structuralType(structural) ?? 'dyn';
    if (!properties) return 'dyn';
    // Types may be recursive: fields are resolved lazily.
    const field = (name: string): CelField | undefined =>
      Object.hasOwn(properties, name) ? { key: name, type: this.typeOf(properties[name]!) } : undefined;
    return { kind: 'object', name: 'object', field } satisfies CelObjectType;
  }
}
