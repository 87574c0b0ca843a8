import {
  goQuote,
  goSyntax,
  goTypeOf,
  goValue,
  isJsonObject,
  isList,
  ownField,
} from '@rollkeeper/machinery/kubernetes';
import type { ObjectSchema, SchemaRegistry, StructuralSchema } from '../index.js';
import { structuralKeyDefaults } from './shape.js';

/**
 * The fields of a configuration that its type does not have, or has otherwise: unknown fields, values of another kind,
 * and items of which two have one key. Source: `typed/validate.go` of structured-merge-diff.
 * @returns a line per problem, with its path
 */
export function typedProblems(
  config: Readonly<Record<string, unknown>>,
  schemas: SchemaRegistry,
  schemaName: string,
): string[] {
  const walk = new TypedWalk(schemas);
  walk.object(config, schemas.get(schemaName), '');
  return walk.problems;
}

/** All of them in one text, as `typed.ValidationErrors` shows itself. */
export function typedProblemText(problems: readonly string[]): string {
  const [only = ''] = problems;
  return problems.length === 1 ? only : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

/** Keys of list items that may be left out, beyond those whose empty value is always written. */
const KEY_DEFAULTS: Readonly<Record<string, unknown>> = { protocol: 'TCP' };

type Fields = Readonly<Record<string, unknown>>;

class TypedWalk {
  readonly problems: string[] = [];

  constructor(private readonly schemas: SchemaRegistry) {}

  private fail(path: string, problem: string): void {
    this.problems.push(`${path}: ${problem}`);
  }

  object(fields: Fields, schema: ObjectSchema | undefined, path: string): void {
    if (schema?.type !== 'object') return;
    for (const [field, value] of inOrder(fields)) {
      const at = `${path}.${field}`;
      const property = ownField(schema.properties, field);
      if (property) this.value(value, property, at);
      else if (schema.structural) {
        if (!this.userField(value, field, schema.structural, at)) return;
      } else return this.fail(at, UNDECLARED);
    }
  }

  private value(value: unknown, schema: ObjectSchema, path: string): void {
    if (value === null || value === undefined) return;
    switch (schema.type) {
      case 'ref':
        return this.named(value, schema.ref ?? '', path);
      case 'object':
        return this.fields(value, path, (fields) => this.object(fields, schema, path));
      case 'map':
        return this.fields(value, path, (fields) => {
          for (const [key, entry] of inOrder(fields))
            this.value(entry, schema.items ?? ANYTHING, `${path}.${key}`);
        });
      case 'array':
        return this.list(value, schema, path);
      default:
        return this.scalar(value, schema, path);
    }
  }

  private named(value: unknown, name: string, path: string): void {
    const schema = this.schemas.get(name);
    if (schema?.type === 'object') this.fields(value, path, (fields) => this.object(fields, schema, path));
    else if (schema) this.value(value, schema, path);
  }

  private fields(value: unknown, path: string, look: (fields: Fields) => void): void {
    if (isJsonObject(value)) look(value);
    else if (value !== null && value !== undefined) this.fail(path, `expected map, got ${shown(value)}`);
  }

  private list(
    value: unknown,
    { items = ANYTHING, listMapKeys, listType }: ObjectSchema,
    path: string,
  ): void {
    const elementOf = (item: unknown): string => this.keyOf(item, items, listMapKeys);
    this.items(value, { listType, elementOf }, path, (item, at) => this.value(item, items, at));
  }

  /** An item that cannot be a member of the list is the last that is looked at. */
  private items(
    list: unknown,
    { elementOf, listType }: { readonly listType?: string; readonly elementOf: (item: unknown) => string },
    path: string,
    look: (item: unknown, path: string) => void,
  ): void {
    if (!isList(list)) return this.fail(path, `expected list, got ${shown(list)}`);
    const seen = new Set<string>();
    for (const [index, item] of list.entries()) {
      const problem = memberProblem(item, listType);
      if (problem !== undefined) return this.fail(path, `element ${index}: ${problem}`);
      const element = listType === 'set' ? `[=${keyText(item)}]` : listType === 'map' ? elementOf(item) : '';
      if (element !== '' && seen.has(element)) this.fail(path, `duplicate entries for key ${element}`);
      seen.add(element);
      look(item, `${path}${element || `[${index}]`}`);
    }
  }

  /** `[containerPort=80,protocol="TCP"]` */
  private keyOf(item: unknown, schema: ObjectSchema, keys: readonly string[] = []): string {
    const fields = isJsonObject(item) ? item : {};
    const always = schema.ref === undefined ? undefined : this.schemas.goFacts(schema.ref).always;
    const parts = [...keys].sort().map((key) => {
      const value = ownField(fields, key) ?? ownField(KEY_DEFAULTS, key) ?? ownField(always, key);
      return `${key}=${keyText(value)}`;
    });
    return `[${parts.join(',')}]`;
  }

  private scalar(value: unknown, { format, type }: ObjectSchema, path: string): void {
    const isContainer = typeof value === 'object';
    if (type === 'any' || type === 'union') return;
    if (
      type === 'string' &&
      (format === 'quantity' || format === 'int-or-string' || format === 'date-time')
    ) {
      if (isContainer) this.fail(path, `expected any scalar, got ${shown(value)}`);
    } else if (type === 'string') {
      if (typeof value !== 'string') this.fail(path, `expected string, got ${shownWithType(value)}`);
    } else if (type === 'boolean') {
      if (typeof value !== 'boolean') this.fail(path, `expected boolean, got ${shown(value)}`);
    } else if (typeof value !== 'number' && typeof value !== 'bigint')
      this.fail(path, `expected numeric (int or float), got ${goTypeOf(value)}`);
  }

  /** @returns whether it is declared */
  private userField(value: unknown, field: string, schema: StructuralSchema, path: string): boolean {
    const { additionalProperties, properties } = schema;
    const property = ownField(properties, field);
    if (property) this.user(value, property, path);
    else if (typeof additionalProperties === 'object') this.user(value, additionalProperties, path);
    else if (!schema['x-kubernetes-preserve-unknown-fields'] && additionalProperties !== true) {
      this.fail(path, UNDECLARED);
      return false;
    }
    return true;
  }

  private user(value: unknown, schema: StructuralSchema, path: string): void {
    if (value === null || value === undefined) return;
    if (schema['x-kubernetes-int-or-string']) {
      if (typeof value === 'object') this.fail(path, `expected any scalar, got ${shown(value)}`);
      return;
    }
    switch (schema.type) {
      case 'object':
        if (schema['x-kubernetes-embedded-resource']) return;
        return this.fields(value, path, (fields) => {
          const isOpen = !schema.properties && schema.additionalProperties === undefined;
          if (isOpen) return;
          for (const [field, entry] of inOrder(fields))
            if (!this.userField(entry, field, schema, `${path}.${field}`)) return;
        });
      case 'array':
        return this.userList(value, schema, path);
      case 'string':
      case 'boolean':
        return this.scalar(value, { type: schema.type }, path);
      case 'integer':
      case 'number':
        return this.scalar(value, { type: 'number' }, path);
      default:
    }
  }

  private userList(value: unknown, schema: StructuralSchema, path: string): void {
    const { items } = schema;
    const list = {
      listType: schema['x-kubernetes-list-type'],
      elementOf: (item: unknown) => userKey(item, schema),
    };
    this.items(value, list, path, (item, at) => {
      if (typeof items === 'object') this.user(item, items, at);
    });
  }
}

const UNDECLARED = 'field not declared in schema';

/** Go visits the fields of a map in any order, and stops at the first that is not declared. */
function inOrder(fields: Fields): [string, unknown][] {
  return Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Why an item cannot be a member of such a list. Source: `listItemToPathElement` of structured-merge-diff. */
function memberProblem(item: unknown, listType: string | undefined): string | undefined {
  if (listType === 'map') {
    if (item === null) return 'associative list with keys may not have a null element';
    return isJsonObject(item) ? undefined : 'associative list with keys may not have non-map elements';
  }
  if (listType !== 'set') return undefined;
  if (item === null) return "associative list without keys has an element that's an explicit null";
  if (isList(item)) return 'not supported: associative list with lists as elements';
  return isJsonObject(item) ? "associative list without keys has an element that's a map type" : undefined;
}

const ANYTHING: ObjectSchema = { type: 'any' };

function userKey(item: unknown, schema: StructuralSchema): string {
  const fields = isJsonObject(item) ? item : {};
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const defaults = schema.items ? structuralKeyDefaults(schema.items, keys) : {};
  return `[${[...keys]
    .sort()
    .map((key) => `${key}=${keyText(ownField(fields, key) ?? ownField(defaults, key))}`)
    .join(',')}]`;
}

function keyText(value: unknown): string {
  return typeof value === 'string' ? goQuote(value) : goValue(value);
}

/** As Go's `%v` shows the holder of a value. */
function shown(value: unknown): string {
  return `&{${goValue(value)}}`;
}

/** The same by `%#v`. */
function shownWithType(value: unknown): string {
  return `&value.valueUnstructured{Value:${goSyntax(value)}}`;
}
