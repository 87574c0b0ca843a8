import { stringifyJson, uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { checkWriteOptions, decodeBody, decodeDeleteOptions } from '../decoding/index.js';
import { badRequest } from '../errors/index.js';
import { created } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import { evictPod } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { checkDeleteOptions } from './delete-options.js';
import type { ResourceCall } from './handler.js';
import { checkNamespace, checkType, isKnownType } from './read-object.js';
import { sentAttributes } from './sent-attributes.js';
import { callerOf } from './write-options.js';

/** `POST` to a pod's `eviction`: a deletion, where the pod's disruption budget allows it. */
export async function handleEviction(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object: eviction, warnings } = await decodeBody(await call.request.readBody(), {
    contentType: call.request.contentType,
    schemas: context.schemas,
    schema: EVICTION.schema,
    kind: EVICTION.type,
    fieldValidation: checkWriteOptions(call.request),
  });
  for (const warning of warnings) call.request.warn(warning);
  checkType(eviction, EVICTION.type, isKnownType(context), FORMER_VERSIONS);
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

/** As webhooks and policies see it. A namespace that is left out is that of the path; the name has to be there. */
function objectOf(eviction: Eviction, { namespace }: ResourceCall): UnstructuredObject {
  const metadata = { namespace, ...eviction.metadata };
  return uncheckedObject({ ...eviction, metadata });
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

const EVICTION = {
  type: { group: 'policy', version: 'v1', resource: 'evictions', kind: 'Eviction', namespaced: true },
  schema: 'io.k8s.api.policy.v1.Eviction',
};

/** Clients of older clusters still send it. */
const FORMER_VERSIONS = ['policy/v1beta1'];
