import { cloneJson, stringifyJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../schema/errors/index.js';
import { validateAnnotations, validateLabels } from '../index.js';

/** A failed conversion. The text follows "conversion webhook for example.com/v1, Kind=Thing". */
export class ConversionError extends Error {}

type ReviewVersion = 'v1' | 'v1beta1';

interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly Readonly<UnstructuredObject>[];
}

type Fields = Record<string, unknown>;

const GROUP = 'apiextensions.k8s.io';
const KIND = 'ConversionReview';

/** The first version of ConversionReview that both sides know. @throws ConversionError */
export function reviewVersionOf(known: readonly string[]): ReviewVersion {
  const version = known.find((one) => one === 'v1' || one === 'v1beta1');
  if (!version) throw new ConversionError('failed: no supported conversion review versions');
  return version;
}

export function conversionReview(version: ReviewVersion, request: ConversionRequest): object {
  return { kind: KIND, apiVersion: `${GROUP}/${version}`, request };
}

/**
 * The converted objects of a returned ConversionReview, not validated yet. Source: getConvertedObjectsFromResponse in
 * apiextensions-apiserver/pkg/apiserver/conversion.
 * @throws ConversionError if it reports a failure, or does not answer the request
 */
export function readConversionReview(
  answer: unknown,
  uid: string,
  version: ReviewVersion,
): readonly unknown[] {
  const { apiVersion, kind, response } = fieldsOf(answer);
  if (version === 'v1') {
    const expected = `${GROUP}/v1, Kind=${KIND}`;
    const got = `${textOf(apiVersion)}, Kind=${textOf(kind)}`;
    if (got !== expected)
      throw new ConversionError(`failed: expected webhook response of ${expected}, got ${got}`);
  }
  if (!isJsonObject(response)) throw new ConversionError('failed: no response provided');
  const { convertedObjects, result, uid: answered } = response;
  // The older version was never checked.
  if (version === 'v1' && answered !== uid)
    throw new ConversionError(
      `failed: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(answered))}`,
    );
  const { message, status: said } = fieldsOf(result);
  const status = textOf(said);
  if (status !== 'Success')
    throw new ConversionError(
      `failed: ${textOf(message) || `response.result.status was '${status}', not 'Success'`}`,
    );
  return Array.isArray(convertedObjects) ? convertedObjects : [];
}

/** The fields of a part of an answer; none if it is no object. */
function fieldsOf(value: unknown): Readonly<Fields> {
  return isJsonObject(value) ? value : {};
}

/**
 * The converted objects, in the order of the originals. A conversion may change labels and annotations, and nothing else
 * of the metadata, which are those of the original. Source: Convert in webhook_converter.go.
 * @throws ConversionError
 */
export function checkConverted(
  originals: readonly Readonly<UnstructuredObject>[],
  answers: readonly unknown[],
  wanted: string,
): UnstructuredObject[] {
  if (answers.length !== originals.length)
    throw new ConversionError(`returned ${answers.length} objects, expected ${originals.length}`);
  return originals.map((original, index) => {
    const converted = objectOf(answers[index], index);
    const mismatch = (what: string, expected: string, received: unknown): never => {
      throw new ConversionError(
        `returned invalid object at index ${index}: invalid ${what} (expected ${expected}, received ${textOf(received)})`,
      );
    };
    if (converted['apiVersion'] !== wanted) mismatch('groupVersion', wanted, converted['apiVersion']);
    if (converted['kind'] !== original.kind) mismatch('kind', original.kind, converted['kind']);
    const metadata = metadataOf(original, converted);
    return { ...converted, apiVersion: wanted, kind: original.kind, metadata };
  });
}

function objectOf(answer: unknown, index: number): Fields {
  if (isJsonObject(answer) && textOf(answer['kind']) !== '') return answer;
  const shown = answer === undefined ? '' : stringifyJson(answer).slice(0, 256);
  throw new ConversionError(
    `returned invalid object at index ${index}: Object 'Kind' is missing in '${shown}'`,
  );
}

function metadataOf(
  original: Readonly<UnstructuredObject>,
  { metadata: given }: Fields,
): UnstructuredObject['metadata'] {
  const before: Readonly<Fields> = { ...original.metadata };
  for (const [field, shown] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [was, is] = [textOf(before[field]), textOf(isJsonObject(given) ? given[field] : undefined)];
    if (was !== is)
      throw new ConversionError(`returned invalid object: must have the same ${shown}: ${was} != ${is}`);
  }
  if (!isJsonObject(given))
    throw new ConversionError(
      `returned invalid metadata: ${given === undefined ? 'missing metadata' : `invalid metadata of type ${goTypeOf(given)}`} in converted object`,
    );
  const { annotations: _annotations, labels: _labels, ...kept } = cloneJson(original.metadata);
  return { ...kept, ...textsOf('labels', given, before), ...textsOf('annotations', given, before) };
}

const VALIDATE = {
  labels: (texts: Readonly<Record<string, string>>, errors: FieldError[]) =>
    validateLabels(texts, 'metadata.labels', errors),
  annotations: (texts: Readonly<Record<string, string>>, errors: FieldError[]) =>
    validateAnnotations(texts, 'metadata.annotation', errors),
};

/** The labels or annotations as the conversion left them. */
function textsOf(
  field: 'labels' | 'annotations',
  converted: Readonly<Fields>,
  original: Readonly<Fields>,
): Pick<UnstructuredObject['metadata'], 'labels' | 'annotations'> {
  const given = converted[field];
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given))
    throw new ConversionError(
      `returned invalid metadata: invalid metadata.${field} of type ${goTypeOf(given)} in converted object`,
    );
  for (const [name, value] of Object.entries(given))
    if (typeof value !== 'string')
      throw new ConversionError(
        `returned invalid metadata: metadata.${field}[${name}] must be a string, but is ${goTypeOf(value)} in converted object`,
      );
  const texts = given as Record<string, string>;
  if (stringifyJson(texts) !== stringifyJson(original[field])) validateTexts(field, texts);
  return { [field]: texts };
}

function validateTexts(field: keyof typeof VALIDATE, texts: Readonly<Record<string, string>>): void {
  const errors: FieldError[] = [];
  VALIDATE[field](texts, errors);
  if (errors.length === 0) return;
  const problems = errors.map((error) => `${error.field}: ${error.message}`);
  const shown = problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
  throw new ConversionError(`returned invalid metadata: ${shown}`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Go's name of the type of a JSON value. */
function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return Number.isInteger(value) || typeof value === 'bigint' ? 'int64' : 'float64';
  }
}
