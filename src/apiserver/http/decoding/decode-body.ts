import { isUtf8 } from 'node:buffer';
import type { LongWork } from '@rollkeeper/machinery/clock';
import { apiVersionOf, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest, unsupportedMediaType } from '../../schema/errors/index.js';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/decode-protobuf.js';
import { DecodeError, decodeObject, readJsonText, summaryOfBytes } from '../../schema/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { judgeFindings } from './field-validation.js';
import type { FieldValidation } from './field-validation.js';
import { typeProblem } from './type-problems.js';
import type { NamedType } from './type-problems.js';

interface DecodeBodyOptions {
  readonly contentType: string;
  readonly schemas: SchemaRegistry;
  /** Name of the schema that the body has to follow. */
  readonly schema: string;
  readonly kind: ResourceType;
  readonly fieldValidation: FieldValidation;
  /** Yields between the pieces of reading it. @default all at once */
  readonly work?: LongWork;
  /** Whether there is such a type. A body of one that does not exist is refused before its fields are read. @default for any */
  readonly isKnown?: (named: NamedType) => boolean;
}

const APPLY_MEDIA_TYPE = 'application/apply-patch+yaml';
/** The media types of bodies that are objects. */
export const ACCEPTED_MEDIA_TYPES = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE];
const TEXT_TYPES: ReadonlySet<string> = new Set([
  '',
  'application/json',
  'application/yaml',
  'application/x-yaml',
  'text/yaml',
]);

/** Whether a body of this media type is JSON or YAML; one without a type is. */
export function isTextType(contentType: string): boolean {
  return TEXT_TYPES.has(contentType);
}

/**
 * Reads a body as an object of a kind.
 * @throws StatusError 400 for what cannot be read, 415 for a media type that we have not
 */
export async function decodeBody(
  body: Buffer,
  options: DecodeBodyOptions,
): Promise<{ readonly object: UnstructuredObject; readonly warnings: readonly string[] }> {
  const { contentType, kind } = options;
  if (![PROTOBUF_MEDIA_TYPE, APPLY_MEDIA_TYPE].includes(contentType) && !isTextType(contentType)) {
    throw unsupportedMediaType(ACCEPTED_MEDIA_TYPES);
  }
  const text =
    contentType === PROTOBUF_MEDIA_TYPE
      ? stringifyJson(decodeProtobuf(body, options))
      : body.toString('utf8');
  await options.work?.giveWay();
  try {
    const { object, findings } = await decodeObject(
      text,
      isYaml(contentType, text) ? 'application/yaml' : 'application/json',
      options.schemas,
      options.schema,
      {
        fieldValidation: options.fieldValidation,
        work: options.work,
        checkType: (named) => checkKnown(named, options),
        isYaml: contentType === APPLY_MEDIA_TYPE,
        // An applied configuration says nothing about fields that it leaves out.
        empties: contentType === APPLY_MEDIA_TYPE ? 'absent' : 'written',
      },
    );
    return { object, warnings: judgeFindings(findings, options.fieldValidation, kind) };
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(withBytes(error.message, text, body), error) : error;
  }
}

/** Source: Decode in apimachinery/pkg/runtime/serializer/json/json.go, which creates the object before it reads its fields. */
function checkKnown({ apiVersion, kind }: NamedType, { isKnown, kind: type }: DecodeBodyOptions): void {
  const expected = apiVersionOf(type);
  const named = { apiVersion: apiVersion || expected, kind: kind || type.kind };
  if (!isKnown || isKnown(named) || (named.apiVersion === expected && named.kind === type.kind)) return;
  throw badRequest(typeProblem(named, type, false));
}

/** A complaint ends with the beginning of the body, which is not that of the text if the body is none. */
function withBytes(message: string, text: string, body: Buffer): string {
  if (isUtf8(body)) return message;
  return message.replace(`(${summaryOfBytes(Buffer.from(text))})`, `(${summaryOfBytes(body)})`);
}

/** An applied configuration calls itself YAML, and nearly always is JSON, which is read much faster. */
function isYaml(contentType: string, text: string): boolean {
  if (!contentType.includes('yaml')) return false;
  return contentType !== APPLY_MEDIA_TYPE || !/^\s*\{/.test(text) || !isJson(text);
}

function isJson(text: string): boolean {
  try {
    readJsonText(text);
    return true;
  } catch {
    return false;
  }
}
