import { parseJson, stringifyJson } from '../../kubernetes/index.js';
import { decodeDeleteOptions } from '../decoding/index.js';
import { badRequest } from '../errors/index.js';
import { created } from '../http/index.js';
import type { ApiRequest, ApiResponse } from '../http/index.js';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/index.js';
import { deleteObject } from '../registry/index.js';
import type { PropagationPolicy, RegistryContext } from '../registry/index.js';
import { isDryRun } from './dry-run.js';
import type { ResourceCall } from './handler.js';

/** `POST` to a pod's `eviction`: a deletion, as there are no disruption budgets here. */
export async function handleEviction(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { deleteOptions = {} } = await readEviction(context, call.request);
  const options = decodeDeleteOptions(
    Buffer.from(stringifyJson(deleteOptions)),
    'application/json',
    context.schemas,
  );
  const dryRun = isDryRun(call.request.query, options.dryRun);
  const propagationPolicy = options.propagationPolicy as PropagationPolicy | undefined;
  await deleteObject(context, call, { ...options, propagationPolicy }, { dryRun });
  return created({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

const SCHEMA = 'io.k8s.api.policy.v1.Eviction';

async function readEviction(
  { schemas }: RegistryContext,
  request: ApiRequest,
): Promise<{ deleteOptions?: unknown }> {
  const body = await request.readBody();
  if (request.contentType === PROTOBUF_MEDIA_TYPE) return decodeProtobuf(body, { schemas, schema: SCHEMA });
  try {
    return parseJson(body.toString()) as { deleteOptions?: unknown };
  } catch (error) {
    throw badRequest(`Eviction in version "v1" cannot be handled as an Eviction: ${String(error)}`, error);
  }
}
