import { stringifyJson, uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { checkWriteOptions, decodeBody, decodeDeleteOptions } from '../../http/decoding/index.js';
import { badRequest, unexpected } from '../../schema/errors/index.js';
import { created } from '../../http/index.js';
import type { ApiResponse } from '../../http/index.js';
import { evictPod } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { checkDeleteOptions, POLICIES } from './delete-options.js';
import type { ResourceCall } from './handler.js';
import { checkNamespace, checkType, isKnownType } from './read-object.js';
import { sentAttributes } from './sent-attributes.js';
import { callerOf, isDryRun } from './write-options.js';

/** `POST` to a pod's `eviction`: a deletion, where the pod's disruption budget allows it. */
export async function handleEviction(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object: eviction, warnings } = await decodeBody(await call.request.readBody(), {
    contentType: call.request.contentType,
    schemas: context.schemas,
    schema: EVICTION.schema,
    kind: EVICTION.type,
    fieldValidation: checkWriteOptions(call.request),
    isKnown: (named) => FORMER_VERSIONS.includes(named.apiVersion ?? '') || isKnownType(context)(named),
  });
  for (const warning of warnings) call.request.warn(warning);
  checkType(eviction, EVICTION.type, isKnownType(context), FORMER_VERSIONS);
  const { caller } = callerOf(call);
  const dryRun = isDryRun(call.request.query);
  const attributes = sentAttributes(call, EVICTION, objectOf(eviction, call), { dryRun, caller });
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

/**
 * The options of the deletion in an eviction, which are not validated. Whether it is only tried may be said in both
 * places, in the same words. Source: propagateDryRun in pkg/registry/core/pod/storage/eviction.go.
 */
async function deleteOptionsOf(context: RegistryContext, call: ResourceCall, { deleteOptions }: Eviction) {
  const text = Buffer.from(stringifyJson(deleteOptions ?? {}));
  const sent = await decodeDeleteOptions(text, 'application/json', context.schemas);
  const { dryRun: said = [], propagationPolicy: policy, ...options } = sent;
  const inQuery = call.request.query.getAll('dryRun').filter((value) => value !== '');
  if (said.length > 0 && inQuery.length > 0 && said.join(' ') !== inQuery.join(' '))
    throw unexpected(
      `Non-matching dry-run options in request and content: [${inQuery.join(' ')}] and [${said.join(' ')}]`,
    );
  const known = policy !== undefined && POLICIES.includes(policy) ? { propagationPolicy: policy } : {};
  const dryRun = said.length + inQuery.length > 0;
  return { ...checkDeleteOptions({ ...options, ...known }, new URLSearchParams()), dryRun };
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
