import { atOnce } from '@rollkeeper/machinery/clock';
import type { LongWork, Pieces } from '@rollkeeper/machinery/clock';
import { goQuote, isJsonObject, uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { ObjectMeta, UnstructuredObject, WrittenFractions } from '@rollkeeper/machinery/kubernetes';
import { coerce } from './coerce.js';
import type { CoerceOptions, CoerceResult, Empties } from './coerce.js';
import { DecodeError } from './decode-error.js';
import { FieldTypeError } from './field-type-error.js';
import { countOwnKeys } from './unknown-fields.js';
import { fieldDecoder } from './field-decoder.js';
import type { FieldDecoder } from './field-decoder.js';
import { JsonSyntaxError, countKeys, readJsonText, readJsonWithFractions } from './json-text.js';
import type { FieldFinding, SchemaRegistry } from './object-schema.js';
import {
  MAX_FINDINGS,
  checkInOrder,
  readRepeatedKeys,
  repeatedKeysOf,
  repeatedLinesOf,
} from './repeated-keys.js';
import { YamlSyntaxError, parseYaml } from './yaml-text.js';
import type { YamlDocument } from './yaml-text.js';

interface DecodeOptions {
  /** With `Ignore`, nothing is looked for, and `findings` is empty. @default 'Warn' */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** The text is JSON that is read as YAML, where `3.0` is an integer. @default false */
  readonly isYaml?: boolean;
  /** @default 'absent' */
  readonly empties?: Empties;
  /** Yields between the pieces of reading JSON. @default all at once */
  readonly work?: LongWork;
  /** Refuses what the document calls itself, before its fields are read. @default for nothing */
  readonly checkType?: (named: NamedDocument) => void;
}

/** The kind of a document, as the first look at it finds it. */
interface NamedDocument {
  readonly apiVersion?: string;
  readonly kind?: string;
}

interface DecodedObject {
  readonly object: UnstructuredObject;
  readonly findings: readonly FieldFinding[];
}

/**
 * Reads a request body as the type named `schemaName`: JSON, or YAML when `contentType` says so. Removes unknown fields, nulls
 * and empty optional fields from the object; quantities and times have their canonical form. `apiVersion` and `kind` are not
 * compared with anything.
 *
 * @throws DecodeError for what is no document, and for values of a wrong type
 * @throws DocumentLimitError
 */
export async function decodeObject(
  text: string,
  contentType: string,
  schemas: SchemaRegistry,
  schemaName: string,
  options: DecodeOptions = {},
): Promise<DecodedObject> {
  if (!contentType.includes('yaml')) {
    const pieces = jsonInPieces(text, schemas, schemaName, options);
    return options.work ? options.work.run(pieces) : atOnce(pieces);
  }
  const decoder = fieldDecoder(schemas, schemaName);
  const { value, duplicates } = await readYaml(text, decoder);
  const { object, unknown } = coerceDocument(value, text, decoder, options);
  if (options.fieldValidation === 'Ignore') return { object, findings: [] };
  return { object, findings: [...duplicates, ...reported(unknown, decoder)] };
}

/**
 * Reads a configuration to be applied, as it is written: YAML, which nearly always is JSON, and then is read a good deal
 * faster. Nothing is removed from it.
 * @returns with the keys that are written twice
 * @throws DecodeError for what is no document
 * @throws DocumentLimitError
 */
export async function readConfig(
  text: string,
): Promise<{ readonly config: Record<string, unknown>; readonly findings: readonly FieldFinding[] }> {
  const { duplicates, value } = await readConfigText(text);
  if (typeof value !== 'object' || Array.isArray(value))
    throw notYaml(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${goTypeName(value)} into Go value of type map[string]interface {}`,
    );
  const config = (value ?? {}) as Record<string, unknown>;
  const findings = duplicates ?? (countKeys(text) === countOwnKeys(config) ? [] : repeatedLinesOf(text));
  return { config, findings };
}

/**
 * Makes of a configuration that has been laid over an object what its type has: as {@link normalizeObject}, by the converter
 * of apimachinery, to which one number is as good as another. Changes the object.
 * @throws DecodeError
 */
export function convertObject(
  object: UnstructuredObject,
  schemas: SchemaRegistry,
  schemaName: string,
): readonly FieldFinding[] {
  return coerceAs(object, fieldDecoder(schemas, schemaName), { empties: 'written', from: 'map' }).unknown;
}

/** @returns without duplicates where they have not been looked for */
async function readConfigText(
  text: string,
): Promise<{ value: unknown; duplicates?: readonly FieldFinding[] }> {
  if (/^\s*\{/.test(text))
    try {
      return { value: readJsonText(text) };
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
    }
  try {
    return await parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw notYaml(`error converting YAML to JSON: ${error.message}`);
  }
}

function notYaml(problem: string): DecodeError {
  return new DecodeError('malformed', `error decoding YAML: ${problem}`);
}

/** The same of JSON, at once. */
export function decodeJson(
  text: string,
  schemas: SchemaRegistry,
  schemaName: string,
  options: DecodeOptions = {},
): DecodedObject {
  return atOnce(jsonInPieces(text, schemas, schemaName, options));
}

function* jsonInPieces(
  text: string,
  schemas: SchemaRegistry,
  schemaName: string,
  options: DecodeOptions,
): Pieces<DecodedObject> {
  const decoder = fieldDecoder(schemas, schemaName);
  const { keys, object, unknown } = yield* refusingFirst(text, decoder, options);
  yield;
  if (countKeys(text) !== keys) return yield* repeatedInPieces(text, decoder, options);
  return { object, findings: options.fieldValidation === 'Ignore' ? [] : reported(unknown, decoder) };
}

function* textInPieces(
  text: string,
  decoder: FieldDecoder,
  options: DecodeOptions,
): Pieces<ReturnType<typeof coerceDocument>> {
  const { fractions, value } = readJson(text, decoder);
  yield;
  return coerceDocument(value, text, decoder, options, options.isYaml ? undefined : fractions);
}

/**
 * Reads a text as if it repeated no keys. If that finds a value of a wrong type, an earlier one may have been hidden by
 * another one of its key, and the refusal is about the first in the text.
 */
function* refusingFirst(
  text: string,
  decoder: FieldDecoder,
  options: DecodeOptions,
): ReturnType<typeof textInPieces> {
  try {
    return yield* textInPieces(text, decoder, options);
  } catch (error) {
    const isOfType = error instanceof DecodeError && error.problem === 'wrong-type';
    if (isOfType && !decoder.structural && !options.isYaml && repeatedKeysOf(text).length > 0)
      typed(decoder, () => checkInOrder(text, decoder));
    throw error;
  }
}

/** Handles a text that repeats keys. In custom resources, the last one counts; other types take their fields together. */
function* repeatedInPieces(
  text: string,
  decoder: FieldDecoder,
  options: DecodeOptions,
): Pieces<DecodedObject> {
  const isIgnored = options.fieldValidation === 'Ignore';
  if (decoder.structural) {
    const { object, unknown } = yield* textInPieces(text, decoder, options);
    yield;
    return { object, findings: isIgnored ? [] : [...repeatedKeysOf(text), ...reported(unknown, decoder)] };
  }
  const read = typed(decoder, () => readRepeatedKeys(text, decoder));
  yield;
  const { object } = yield* textInPieces(read.text, decoder, options);
  return { object, findings: isIgnored ? [] : read.findings };
}

/** The unknown fields that are reported, in their order. */
function reported(unknown: readonly FieldFinding[], { structural }: FieldDecoder): readonly FieldFinding[] {
  return structural ? sortFindings(unknown, true) : unknown.slice(0, MAX_FINDINGS);
}

/** By their paths; of custom resources, metadata is read apart from the rest, and first. */
export function sortFindings(findings: readonly FieldFinding[], isCustom: boolean): readonly FieldFinding[] {
  if (findings.length < 2) return findings;
  const isLate = ({ path }: FieldFinding): boolean => isCustom && !path.startsWith('metadata.');
  return [...findings].sort((a, b) => Number(isLate(a)) - Number(isLate(b)) || (a.path < b.path ? -1 : 1));
}

function coerceDocument(
  value: unknown,
  text: string,
  decoder: FieldDecoder,
  { checkType, empties }: DecodeOptions,
  fractions?: WrittenFractions,
): CoerceResult & { readonly object: UnstructuredObject } {
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw unrecognized(text, decoder, `couldn't get version/kind; json parse error: ${goMismatch(value)}`);
  }
  // In Go, null leaves an object as it was: empty.
  const object = uncheckedObject(value ?? {});
  checkTypeFields(object, text, decoder, checkType);
  const { keys, unknown } = coerceAs(object, decoder, { fractions, empties });
  return { keys, object, unknown };
}

/** The kind of an object is read, and judged, before anything else. */
function checkTypeFields(
  object: UnstructuredObject,
  text: string,
  decoder: FieldDecoder,
  checkType: DecodeOptions['checkType'],
): void {
  const named = typeFieldsOf(object);
  if (typeof named === 'string') throw unrecognized(text, decoder, named);
  checkType?.(named);
}

/** Why what an object calls itself cannot be read; undefined: it can, or is not there. */
export function typeFieldProblem(object: UnstructuredObject): string | undefined {
  const named = typeFieldsOf(object);
  return typeof named === 'string' ? named : undefined;
}

/**
 * The kind that an object names, or why that cannot be read. This first look ignores the case of names, and the last
 * one counts. Source: Interpret in apimachinery/pkg/runtime/serializer/json/meta.go.
 */
function typeFieldsOf(object: UnstructuredObject): NamedDocument | string {
  const named: { apiVersion?: string; kind?: string } = {};
  for (const key in object) {
    const name = TYPE_FIELDS.get(key.toLowerCase());
    const value: unknown = object[key];
    if (!name || value === undefined || value === null) continue;
    if (typeof value === 'string') named[name] = value;
    else
      return `couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeName(value)} into Go struct field .${name} of type string`;
  }
  const { apiVersion = '' } = named;
  return apiVersion !== '/' && apiVersion.split('/').length > 2
    ? `unexpected GroupVersion string: ${apiVersion}`
    : named;
}

const TYPE_FIELDS: ReadonlyMap<string, 'apiVersion' | 'kind'> = new Map([
  ['apiversion', 'apiVersion'],
  ['kind', 'kind'],
]);

/**
 * The same for an object that is there already, for example after a patch. Changes it.
 * @returns the unknown fields that were dropped
 * @throws DecodeError
 */
export function normalizeObject(
  object: UnstructuredObject,
  schemas: SchemaRegistry,
  schemaName: string,
): readonly FieldFinding[] {
  return coerceAs(object, fieldDecoder(schemas, schemaName), { empties: 'written' }).unknown;
}

/**
 * Reads a message of another server as the type named `schemaName`. Changes the message: removes the fields that the type does
 * not have.
 * @throws DecodeError whose message is what Go's decoder says, and nothing else
 */
export function readMessage(message: unknown, schemas: SchemaRegistry, schemaName: string): object {
  if (!isJsonObject(message))
    throw new DecodeError('malformed', `couldn't get version/kind; json parse error: ${goMismatch(message)}`);
  try {
    coerce(message, fieldDecoder(schemas, schemaName));
    return message;
  } catch (error) {
    if (!(error instanceof FieldTypeError)) throw error;
    throw new DecodeError('wrong-type', error.message, { cause: error });
  }
}

/** `unknown field "spec.foo"`: the words of a warning, and of a strict decoding error. */
export function describeFinding({ line, path, problem }: FieldFinding): string {
  return problem === 'repeated'
    ? `line ${line}: key ${path} already set in map`
    : `${problem} field ${goQuote(path)}`;
}

function coerceAs(object: UnstructuredObject, decoder: FieldDecoder, options?: CoerceOptions): CoerceResult {
  const result = typed(decoder, () => coerce(object, decoder, options));
  // In Go, metadata is always there.
  const read: { metadata?: Partial<ObjectMeta> } = object;
  if (decoder.properties.has('metadata')) read.metadata ??= {};
  return result;
}

/** Returns the result of `read`. @throws DecodeError where it throws a FieldTypeError */
function typed<T>(decoder: FieldDecoder, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FieldTypeError)) throw error;
    const kind = decoder.structName;
    const version = decoder.goType.split('.')[0] ?? '';
    throw new DecodeError(
      'wrong-type',
      `${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`,
      { cause: error },
    );
  }
}

function readJson(text: string, decoder: FieldDecoder): ReturnType<typeof readJsonWithFractions> {
  try {
    return readJsonWithFractions(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognized(text, decoder, `couldn't get version/kind; json parse error: ${error.message}`);
  }
}

async function readYaml(text: string, decoder: FieldDecoder): Promise<YamlDocument> {
  try {
    const { duplicates, value } = await parseYaml(text);
    // The genuine server makes JSON of it, with sorted keys, before it reads the fields.
    return { duplicates, value: withSortedKeys(value) };
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw unrecognized(text, decoder, error.message);
  }
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key])]));
}

function goMismatch(value: unknown): string {
  return value === null
    ? 'unexpected end of JSON input'
    : `json: cannot unmarshal ${goTypeName(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
}

function goTypeName(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value === 'bigint' ? 'number' : typeof value;
}

const SUMMARY_BYTES = 30;
const OPENING = '{'.charCodeAt(0);

function unrecognized(text: string, decoder: FieldDecoder, problem: string): DecodeError {
  return new DecodeError(
    'malformed',
    `the object provided is unrecognized (must be of type ${decoder.structName}): ${problem} (${summary(text)})`,
    { cause: problem },
  );
}

/** The beginning of the body, as Kubernetes shows it: in hexadecimal unless it looks like an object. */
function summary(text: string): string {
  return summaryOfBytes(Buffer.from(text));
}

export function summaryOfBytes(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const head = bytes.subarray(0, SUMMARY_BYTES);
  const shown = head[0] === OPENING ? head.toString() : head.toString('hex');
  return bytes.length > SUMMARY_BYTES ? `${shown} ...` : shown;
}
