import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { goQuote, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { CustomResourceDefinitionSpec } from '@rollkeeper/machinery/types/apiextensions-v1';

/** By the type of what has them, without dashes. Source: pkg/apiserver/validation/formats.go of apiextensions-apiserver. */
const OF_TEXTS: ReadonlySet<string> = new Set(
  [
    'bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn',
    'hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname',
  ]
    .join(' ')
    .split(' '),
);
const OF_NUMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  integer: new Set(['int32', 'int64']),
  number: new Set(['float', 'double']),
};

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
  const isUnknown = typeof format === 'string' && format !== '' && !isKnown(format, type);
  return [
    ...(isUnknown ? [format] : []),
    ...ONE.flatMap((field) => [schema[field]].flat().flatMap(formatsIn)),
    ...LISTS.flatMap((field) => (Array.isArray(schema[field]) ? schema[field].flatMap(formatsIn) : [])),
    ...MAPS.flatMap((field) => Object.values(schema[field] ?? {}).flatMap(formatsIn)),
  ];
}

function isKnown(format: string, type: unknown): boolean {
  if (type === undefined || type === '' || type === 'string') return OF_TEXTS.has(format.replaceAll('-', ''));
  return typeof type === 'string' && Object.hasOwn(OF_NUMBERS, type) && OF_NUMBERS[type]!.has(format);
}
