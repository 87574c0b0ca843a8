import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, parseDocument } from 'yaml';
import type { Node, Pair, YAMLMap } from 'yaml';
import type { JsonSchema } from './option-documents.js';

/** This file makes the table of values in helm/rollkeeper/README.md from the chart itself. */

export const CHART = join(import.meta.dirname, '..', '..', 'helm', 'rollkeeper');

interface ChartValue {
  /** `redis.tls.caKey` */
  readonly path: string;
  readonly takes: string;
  /** As JSON; undefined for a group. */
  readonly default?: string;
  readonly description: string;
}

/** Types and limits are the schema's, defaults and words those of values.yaml. */
export function chartValues(): readonly ChartValue[] {
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as JsonSchema;
  const { contents } = parseDocument(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  if (!isMap(contents)) throw new Error('values.yaml is no map');
  return valuesIn(contents, schema, []);
}

function valuesIn(map: YAMLMap, schema: JsonSchema, path: readonly string[]): readonly ChartValue[] {
  return map.items.flatMap((pair, index) => {
    const name = nameOf(pair);
    const inner = schema.properties?.[name];
    if (!inner) throw new Error(`values.schema.json has no ${[...path, name].join('.')}`);
    // The comment above the first key of a map belongs to the map.
    const own = (pair.key as Node).commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    const value = { path: [...path, name].join('.'), description: wordsOf(own) };
    const { value: node } = pair as Pair<unknown, Node>;
    if (isMap(node) && inner.properties) {
      const group = value.description === '' ? [] : [{ ...value, takes: 'object' }];
      return [...group, ...valuesIn(node, inner, [...path, name])];
    }
    return [{ ...value, takes: takesOf(inner), default: JSON.stringify(node?.toJSON() ?? null) }];
  });
}

function nameOf({ key }: Pair): string {
  if (!isScalar(key)) throw new Error('a key of values.yaml is no word');
  return String(key.value);
}

function wordsOf(comment: string | null | undefined): string {
  const paragraphs = (comment ?? '').split(/\n\s*\n/);
  return (paragraphs.at(-1) ?? '').replaceAll(/\s+/g, ' ').trim();
}

function takesOf(schema: JsonSchema): string {
  const { enum: choices, maximum, minimum, pattern, type } = schema;
  if (Array.isArray(choices)) return choices.map(String).join(', ');
  const types = Array.isArray(type) ? type.map(String).join(' or ') : typeof type === 'string' ? type : 'any';
  const least = typeof minimum === 'number' ? `${minimum} or more` : undefined;
  const range =
    typeof maximum === 'number' && maximum < 2 ** 31 - 1 ? `${String(minimum)} to ${maximum}` : least;
  const form = typeof pattern === 'string' ? `matching \`${pattern}\`` : undefined;
  return [types, ...(range === undefined ? [] : [range]), ...(form === undefined ? [] : [form])].join(', ');
}

/** The Markdown table of the README. */
export function chartTable(): string {
  const rows = chartValues().map((value) => {
    const shown = value.default === undefined ? '' : `\`${value.default}\``;
    return [`\`${value.path}\``, value.takes, shown, value.description];
  });
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => text.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [line(['value', 'takes', 'default', 'what it does']), '| - | - | - | - |', ...rows.map(line)].join(
    '\n',
  );
}
