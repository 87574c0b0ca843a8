import { isJsonObject } from '@rollkeeper/machinery/kubernetes';

type Schema = Readonly<Record<string, unknown>>;

/** As much of a CustomResourceDefinition as types are made from. */
export interface ServedDefinition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly storage?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: Schema };
    }[];
  };
}

const HEAD = `// Made by \`rollkeeper generate types\`.
import type { KubernetesObject } from 'rollkeeper';
import { defineKind } from 'rollkeeper';
`;

/** Kinds and the types of their objects, in TypeScript. Of several versions, the stored one has the kind's own name. */
export function typesOf(definitions: readonly ServedDefinition[]): string {
  return [HEAD, ...definitions.flatMap(ofDefinition)].join('\n');
}

function ofDefinition({ spec: { group, names, scope, versions } }: ServedDefinition): string[] {
  return versions
    .filter(({ served = true }) => served)
    .map(({ name: version, schema, storage = versions.length === 1 }) => {
      const name = storage ? names.kind : names.kind + version.charAt(0).toUpperCase() + version.slice(1);
      const { properties, required } = schema?.openAPIV3Schema ?? {};
      const { apiVersion: _version, kind: _kind, metadata: _metadata, ...own } = fieldsIn(properties);
      const place = [
        `group: ${quoted(group)}`,
        `version: ${quoted(version)}`,
        `kind: ${quoted(names.kind)}`,
        `resource: ${quoted(names.plural)}`,
        ...(scope === 'Cluster' ? ['namespaced: false'] : []),
      ];
      return [
        comment(schema?.openAPIV3Schema?.['description'], ''),
        `export interface ${name} extends KubernetesObject ${objectType(own, listIn(required), '')}\n`,
        `export const ${name} = defineKind<${name}>({ ${place.join(', ')} });\n`,
      ].join('');
    });
}

/** The type of a value, in TypeScript. */
function typeOf(schema: Schema, indent: string): string {
  const type = plainTypeOf(schema, indent);
  return schema['nullable'] === true ? `${type} | null` : type;
}

function plainTypeOf(schema: Schema, indent: string): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
  const { additionalProperties, enum: values, items, properties, required, type } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  switch (type) {
    case 'string':
    case 'boolean':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const item = typeOf(isJsonObject(items) ? items : {}, indent);
      return /[ |]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      if (isJsonObject(properties)) return objectType(fieldsIn(properties), listIn(required), indent);
      if (isJsonObject(additionalProperties))
        return `Record<string, ${typeOf(additionalProperties, indent)}>`;
      return 'Record<string, unknown>';
    default:
      return 'unknown';
  }
}

function objectType(
  fields: Readonly<Record<string, Schema>>,
  required: readonly unknown[],
  indent: string,
): string {
  const inner = `${indent}  `;
  const lines = Object.entries(fields).map(([name, schema]) => {
    const mark = required.includes(name) || schema['default'] !== undefined ? '' : '?';
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
    return `${comment(schema['description'], inner)}${inner}${key}${mark}: ${typeOf(schema, inner)};`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
}

function comment(description: unknown, indent: string): string {
  if (typeof description !== 'string' || description === '') return '';
  const lines = description.replaceAll('*/', '* /').trim().split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function fieldsIn(properties: unknown): Record<string, Schema> {
  return isJsonObject(properties) ? (properties as Record<string, Schema>) : {};
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}
