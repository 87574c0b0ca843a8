import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { goQuote, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { CustomResourceDefinitionSpec } from '@rollkeeper/machinery/types/apiextensions-v1';
import { isSupportedFormat } from '../custom/formats.js';

/** Warns of formats that judge nothing, where a definition did not have them before. */
export function formatWarnings(
  spec: Decoded<CustomResourceDefinitionSpec> | undefined,
  old: Decoded<CustomResourceDefinitionSpec> | undefined,
): string[] {
  const known = new Set(unknownFormats(old));
  return unknownFormats(spec)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

function unknownFormats(spec: Decoded<CustomResourceDefinitionSpec> | undefined): string[] {
  return (spec?.versions ?? []).flatMap(({ schema }) => formatsIn(schema?.openAPIV3Schema));
}

/** Fields with one schema, with a list of them, and with a map of them. */
const ONE = ['items', 'not', 'additionalProperties', 'additionalItems'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const MAPS = ['properties', 'patternProperties', 'definitions', 'dependencies'];

function formatsIn(schema: unknown): string[] {
  if (!isJsonObject(schema)) return [];
  const { format, type } = schema;
  const isUnknown =
    typeof format === 'string' &&
    format !== '' &&
    !isSupportedFormat(format, typeof type === 'string' ? type : '');
  return [
    ...(isUnknown ? [format] : []),
    ...ONE.flatMap((field) => [schema[field]].flat().flatMap(formatsIn)),
    ...LISTS.flatMap((field) => (Array.isArray(schema[field]) ? schema[field].flatMap(formatsIn) : [])),
    ...MAPS.flatMap((field) => Object.values(schema[field] ?? {}).flatMap(formatsIn)),
  ];
}
