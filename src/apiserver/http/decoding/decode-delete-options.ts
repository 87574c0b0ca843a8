import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { badRequest, unsupportedMediaType } from '../../schema/errors/index.js';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/decode-protobuf.js';
import { decodeObject, DecodeError, documentProblemOf, problemOf } from '../../schema/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { ACCEPTED_MEDIA_TYPES, isTextType } from './decode-body.js';
import { notRegisteredOptions } from './type-problems.js';
import type { NamedType } from './type-problems.js';

/** `metav1.DeleteOptions`, as far as we have it. */
export interface DeleteOptionsBody {
  readonly gracePeriodSeconds?: Int64;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly dryRun?: readonly string[];
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const SCHEMA = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/** @throws StatusError 400, 415 */
export async function decodeDeleteOptions(
  body: Buffer,
  contentType: string,
  schemas: SchemaRegistry,
): Promise<DeleteOptionsBody> {
  if (contentType === PROTOBUF_MEDIA_TYPE) return decodeProtobuf(body, { schemas, schema: SCHEMA });
  if (!isTextType(contentType)) throw unsupportedMediaType(ACCEPTED_MEDIA_TYPES);
  const type = contentType.includes('yaml') ? 'application/yaml' : 'application/json';
  try {
    const { object } = await decodeObject(body.toString('utf8'), type, schemas, SCHEMA, {
      fieldValidation: 'Ignore',
    });
    checkKind(object);
    return object as DeleteOptionsBody;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(error.problem === 'malformed' ? documentProblemOf(error) : problemOf(error), error);
  }
}

/** Every group knows them under its own version. */
function checkKind(options: NamedType): void {
  const { kind = 'DeleteOptions' } = options;
  if (kind !== 'DeleteOptions') throw badRequest(notRegisteredOptions(options));
}
