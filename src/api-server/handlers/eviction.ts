import { errorMessage } from '../../base/errors/index.js';
import { stringifyJson } from '../../base/kubernetes/index.js';
import { decodeDeleteOptions } from '../decoding/index.js';
import { badRequest } from '../errors/index.js';
import { created } from '../http/index.js';
import type { ApiRequest, ApiResponse } from '../http/index.js';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/decode-protobuf.js';
import { evictPod } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { JsonSyntaxError, readJsonText } from '../schema/index.js';
import { checkDeleteOptions } from './delete-options.js';
import type { ResourceCall } from './handler.js';
import { callerOf } from './write-options.js';

/** `POST` to a pod's `eviction`: a deletion, where the pod's disruption budget allows it. */
export async function handleEviction(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { deleteOptions, metadata } = await readEviction(context, call.request);
  if (metadata?.name !== undefined && metadata.name !== call.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const text = Buffer.from(stringifyJson(deleteOptions ?? {}));
  const sent = await decodeDeleteOptions(text, 'application/json', context.schemas);
  const options = checkDeleteOptions(sent, call.request.query);
  await evictPod(context, call, { ...options, ...callerOf(call) });
  return created({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

interface Eviction {
  readonly metadata?: { readonly name?: string };
  readonly deleteOptions?: unknown;
}

const SCHEMA = 'io.k8s.api.policy.v1.Eviction';

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
