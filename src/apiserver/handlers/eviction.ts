import { errorMessage } from '@rollkeeper/machinery/errors';
import { cloneJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { checkWriteOptions, decodeDeleteOptions, judgeFindings } from '../decoding/index.js';
import { badRequest } from '../errors/index.js';
import { created } from '../http/index.js';
import type { ApiRequest, ApiResponse } from '../http/index.js';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/decode-protobuf.js';
import { evictPod } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { DecodeError, JsonSyntaxError, normalizeObject, readJsonText } from '../schema/index.js';
import { checkDeleteOptions } from './delete-options.js';
import type { ResourceCall } from './handler.js';
import { checkNamespace, checkType, isKnownType } from './read-object.js';
import { sentAttributes } from './sent-attributes.js';
import { callerOf } from './write-options.js';

/** `POST` to a pod's `eviction`: a deletion, where the pod's disruption budget allows it. */
export async function handleEviction(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const eviction = await readEviction(context, call.request);
  for (const warning of unknownFields(context, call.request, eviction)) call.request.warn(warning);
  checkType(eviction as UnstructuredObject, EVICTION.type, isKnownType(context), FORMER_VERSIONS);
  const { caller } = callerOf(call);
  const asked = await deleteOptionsOf(context, call, eviction);
  const attributes = sentAttributes(call, EVICTION, objectOf(eviction, call), { ...asked, caller });
  const { object } = attributes;
  checkNamespace(object, call);
  await context.admission.mutateSent(attributes);
  if (object.metadata.name !== call.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const options = await deleteOptionsOf(context, call, object);
  await context.admission.validate(attributes);
  await evictPod(context, call, { ...options, caller });
  return created({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

/** What the body has that an Eviction has not. A wrong type of a field is another matter. */
function unknownFields(
  { schemas }: RegistryContext,
  request: ApiRequest,
  eviction: Eviction,
): readonly string[] {
  const level = checkWriteOptions(request);
  try {
    const findings = normalizeObject(cloneJson(eviction) as UnstructuredObject, schemas, SCHEMA);
    return judgeFindings(findings, level, EVICTION.type);
  } catch (error) {
    if (error instanceof DecodeError) return [];
    throw error;
  }
}

/** As webhooks and policies see it. A namespace that is left out is that of the path; the name has to be there. */
function objectOf(eviction: Eviction, { namespace }: ResourceCall): UnstructuredObject {
  const metadata = { namespace, ...eviction.metadata };
  return { ...eviction, metadata } as UnstructuredObject;
}

async function deleteOptionsOf(context: RegistryContext, call: ResourceCall, { deleteOptions }: Eviction) {
  const text = Buffer.from(stringifyJson(deleteOptions ?? {}));
  const sent = await decodeDeleteOptions(text, 'application/json', context.schemas);
  return checkDeleteOptions(sent, call.request.query);
}

interface Eviction {
  readonly metadata?: { readonly name?: string };
  readonly deleteOptions?: unknown;
}

const SCHEMA = 'io.k8s.api.policy.v1.Eviction';
const EVICTION = {
  type: { group: 'policy', version: 'v1', resource: 'evictions', kind: 'Eviction', namespaced: true },
  schema: SCHEMA,
};

/** Clients of older clusters still send it. */
const FORMER_VERSIONS = ['policy/v1beta1'];

async function readEviction({ schemas }: RegistryContext, request: ApiRequest): Promise<Eviction> {
  const body = await request.readBody();
  if (request.contentType === PROTOBUF_MEDIA_TYPE) return decodeProtobuf(body, { schemas, schema: SCHEMA });
  const eviction = readJson(body.toString());
  if (typeof eviction === 'object' && eviction !== null && !Array.isArray(eviction)) return eviction;
  throw unreadable('it is no object');
}

function readJson(text: string): unknown {
  try {
    return readJsonText(text);
  } catch (error) {
    throw error instanceof JsonSyntaxError ? unreadable(errorMessage(error), error) : error;
  }
}

function unreadable(problem: string, cause?: unknown): Error {
  return badRequest(`Eviction in version "v1" cannot be handled as an Eviction: ${problem}`, cause);
}
