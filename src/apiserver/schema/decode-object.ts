import { goQuote } from '@rollkeeper/machinery/kubernetes';
import type { ObjectMeta, UnstructuredObject, WrittenFractions } from '@rollkeeper/machinery/kubernetes';
import { FieldTypeError, coerce } from './coerce.js';
import type { CoerceResult, Empties } from './coerce.js';
import { fieldDecoder } from './field-decoder.js';
import type { FieldDecoder } from './field-decoder.js';
import { JsonSyntaxError, countKeys, inspectJson, readJsonWithFractions } from './json-text.js';
import type { FieldFinding, SchemaRegistry } from './object-schema.js';
import { YamlSyntaxError, parseYaml } from './yaml-text.js';
import type { YamlDocument } from './yaml-text.js';

export interface DecodeOptions {
  /** With `Ignore`, nothing is looked for, and `findings` is empty. @default 'Warn' */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** The text is JSON that is read as YAML, where `3.0` is an integer. @default false */
  readonly isYaml?: boolean;
  /** @default 'absent' */
  readonly empties?: Empties;
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
 * @throws DocumentLimitError
 */
export async function decodeObject(
  text: string,
  contentType: string,
  schemas: SchemaRegistry,
  schemaName: string,
  options: DecodeOptions = {},
): Promise<DecodedObject> {
  if (!contentType.includes('yaml')) return decodeJson(text, schemas, schemaName, options);
  const decoder = fieldDecoder(schemas, schemaName);
  const { value, duplicates } = await readYaml(text, decoder);
  const { object, unknown } = coerceDocument(value, text, decoder, undefined, options.empties);
  return { object, findings: options.fieldValidation === 'Ignore' ? [] : [...duplicates, ...unknown] };
}

/** The same of JSON, at once. */
export function decodeJson(
  text: string,
  schemas: SchemaRegistry,
  schemaName: string,
  options: DecodeOptions = {},
): DecodedObject {
  const decoder = fieldDecoder(schemas, schemaName);
  const { fractions, value } = readJson(text, decoder);
  const { keys, object, unknown } = coerceDocument(
    value,
    text,
    decoder,
    options.isYaml ? undefined : fractions,
    options.empties,
  );
  if (options.fieldValidation === 'Ignore') return { object, findings: [] };
  const found = countKeys(text) === keys ? unknown : [...inspectJson(text), ...unknown];
  return { object, findings: found };
}

function coerceDocument(
  value: unknown,
  text: string,
  decoder: FieldDecoder,
  fractions?: WrittenFractions,
  empties?: Empties,
): CoerceResult & { readonly object: UnstructuredObject } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unrecognized(text, decoder, `couldn't get version/kind; json parse error: ${goMismatch(value)}`);
  }
  const object = value as UnstructuredObject;
  checkTypeFields(object, text, decoder);
  const { keys, unknown } = coerceAs(object, decoder, fractions, empties);
  return { keys, object, unknown };
}

/** What an object calls itself is read before anything else. */
function checkTypeFields(object: object, text: string, decoder: FieldDecoder): void {
  for (const name in object) {
    if (name !== 'apiVersion' && name !== 'kind') continue;
    const value = (object as Record<string, unknown>)[name];
    if (value === undefined || value === null || typeof value === 'string') continue;
    const problem = `json: cannot unmarshal ${goTypeName(value)} into Go struct field .${name} of type string`;
    throw unrecognized(text, decoder, `couldn't get version/kind; json parse error: ${problem}`);
  }
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
  return coerceAs(object, fieldDecoder(schemas, schemaName), undefined, 'written').unknown;
}

/**
 * What another server has sent, read as the type named `schemaName`; fields that the type does not have are gone. Changes it.
 * @throws DecodeError whose message is what Go's decoder says, and nothing else
 */
export function readMessage(message: unknown, schemas: SchemaRegistry, schemaName: string): object {
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw new DecodeError('malformed', `couldn't get version/kind; json parse error: ${goMismatch(message)}`);
  try {
    coerce(message as Record<string, unknown>, fieldDecoder(schemas, schemaName));
    return message;
  } catch (error) {
    if (!(error instanceof FieldTypeError)) throw error;
    throw new DecodeError('wrong-type', error.message, { cause: error });
  }
}

/** `unknown field "spec.foo"`: the words of a warning, and of a strict decoding error. */
export function describeFinding(finding: FieldFinding): string {
  return `${finding.problem} field ${goQuote(finding.path)}`;
}

function coerceAs(
  object: UnstructuredObject,
  decoder: FieldDecoder,
  fractions?: WrittenFractions,
  empties?: Empties,
): CoerceResult {
  try {
    const result = coerce(object, decoder, fractions, empties);
    // In Go, metadata is always there.
    const read: { metadata?: Partial<ObjectMeta> } = object;
    if (decoder.properties.has('metadata')) read.metadata ??= {};
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
    return await parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw unrecognized(text, decoder, `error converting YAML to JSON: ${error.message}`);
  }
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

/**
 * `malformed`: not a document at all. `wrong-type`: a document, with a value whose type is not allowed at its position.
 */
export type DecodeProblem = 'malformed' | 'wrong-type';

/**
 * A request body that cannot be read. `message` is the whole text of the Status, in Kubernetes' words; the
 * answer is 400 BadRequest.
 */
export class DecodeError extends Error {
  constructor(
    readonly problem: DecodeProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'DecodeError';
  }
}
