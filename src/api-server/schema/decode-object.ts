import { parseJson } from '../../kubernetes/index.js';
import type { UnstructuredObject } from '../../kubernetes/index.js';
import { FieldTypeError, coerce } from './coerce.js';
import { DecodeError } from './decode-error.js';
import { fieldDecoder } from './field-decoder.js';
import type { FieldDecoder } from './field-decoder.js';
import { JsonSyntaxError, countKeys, inspectJson } from './json-text.js';
import type { FieldFinding, SchemaRegistry } from './object-schema.js';
import { YamlSyntaxError, parseYaml } from './yaml-text.js';

export interface DecodeOptions {
  /** With `Ignore`, nothing is looked for, and `findings` is empty. @default 'Warn' */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

export interface DecodedObject {
  readonly object: UnstructuredObject;
  readonly findings: readonly FieldFinding[];
}

/**
 * Reads a request body as the type named `schemaName`: JSON, or YAML when `contentType` says so. Unknown fields,
 * nulls and empty optional fields are gone from the object; quantities and times have their canonical form.
 * `apiVersion` and `kind` are not compared with anything.
 *
 * @throws DecodeError for what is no document, and for values of a wrong type
 */
export function decodeObject(
  text: string,
  contentType: string,
  schemas: SchemaRegistry,
  schemaName: string,
  options: DecodeOptions = {},
): DecodedObject {
  const decoder = fieldDecoder(schemas, schemaName);
  const isYaml = contentType.includes('yaml');
  const { value, duplicates } = isYaml ? readYaml(text, decoder) : readJson(text, decoder);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unrecognized(text, decoder, `couldn't get version/kind; json parse error: ${goMismatch(value)}`);
  }
  const object = value as UnstructuredObject;
  const { unknown, keys } = coerceAs(object, decoder);
  if (options.fieldValidation === 'Ignore') return { object, findings: [] };
  if (isYaml) return { object, findings: [...duplicates, ...unknown] };
  const found = countKeys(text) === keys ? unknown : [...inspectJson(text), ...unknown];
  return { object, findings: found };
}

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
  return coerceAs(object, fieldDecoder(schemas, schemaName)).unknown;
}

/** `unknown field "spec.foo"`: the words of a warning, and of a strict decoding error. */
export function describeFinding(finding: FieldFinding): string {
  return `${finding.problem} field "${finding.path}"`;
}

function coerceAs(object: UnstructuredObject, decoder: FieldDecoder): ReturnType<typeof coerce> {
  try {
    const result = coerce(object, decoder);
    // In Go, metadata is always there.
    if (decoder.properties.has('metadata')) object.metadata ??= {} as UnstructuredObject['metadata'];
    return result;
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

interface ParsedDocument {
  readonly value: unknown;
  readonly duplicates: readonly FieldFinding[];
}

function readJson(text: string, decoder: FieldDecoder): ParsedDocument {
  try {
    return { value: parseJson(text), duplicates: [] };
  } catch (error) {
    throw unrecognized(
      text,
      decoder,
      `couldn't get version/kind; json parse error: ${goSyntaxError(text, error)}`,
    );
  }
}

function readYaml(text: string, decoder: FieldDecoder): ParsedDocument {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw unrecognized(text, decoder, `error converting YAML to JSON: ${error.message}`);
  }
}

function goSyntaxError(text: string, error: unknown): string {
  try {
    inspectJson(text);
  } catch (found) {
    if (found instanceof JsonSyntaxError) return found.message;
  }
  return error instanceof Error ? error.message : String(error);
}

function goMismatch(value: unknown): string {
  const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return value === null
    ? 'unexpected end of JSON input'
    : `json: cannot unmarshal ${what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
}

const SUMMARY_BYTES = 30;

function unrecognized(text: string, decoder: FieldDecoder, problem: string): DecodeError {
  return new DecodeError(
    'malformed',
    `the object provided is unrecognized (must be of type ${decoder.structName}): ${problem} (${summary(text)})`,
  );
}

/** The beginning of the body, as Kubernetes shows it: in hexadecimal unless it looks like an object. */
function summary(text: string): string {
  if (text === '') return '<empty>';
  const bytes = Buffer.from(text);
  const head = bytes.subarray(0, SUMMARY_BYTES);
  const shown = text.startsWith('{') ? head.toString() : head.toString('hex');
  return bytes.length > SUMMARY_BYTES ? `${shown} ...` : shown;
}
