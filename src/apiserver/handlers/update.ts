import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import { invalid, StatusError } from '../errors/index.js';
import type { ApiResponse } from '../http/index.js';
import type { Subresource } from '../kinds/index.js';
import { createObject, updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { checkName, readObject } from './read-object.js';
import { writeOptionsOf } from './write-options.js';

/** `PUT` of an object or of its status. */
export async function handleUpdate(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object, warnings } = await readObject(context, call);
  checkName(object, call.name);
  const options = writeOptionsOf(call);
  const subresource = call.subresource as Subresource;
  const replace = (): UnstructuredObject => {
    if (call.kind.needsVersionOnUpdate && (object.metadata.resourceVersion ?? '0') === '0') throw versionMissing(call);
    return cloneJson<UnstructuredObject>(object);
  };
  try {
    const updated = await updateObject(context, call, replace, { ...options, subresource });
    return respondWithObject(context, call, updated, { warnings: [...warnings, ...options.warned] });
  } catch (error) {
    const isMissing = error instanceof StatusError && error.status.reason === 'NotFound';
    if (!isMissing || subresource !== '' || !call.kind.createsOnUpdate) throw error;
    // A request with a version is about an existing object.
    if (object.metadata.resourceVersion) throw error;
    const made = await createObject(context, call, object, options);
    return respondWithObject(context, call, made, {
      status: 201,
      warnings: [...warnings, ...options.warned],
    });
  }
}

/** Some kinds are only replaced by those who know what they replace. */
function versionMissing({ kind, name }: ResourceCall): StatusError {
  const { group, resource } = kind.type;
  return invalid({ group, kind: resource }, name, [
    {
      type: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      message: 'Invalid value: 0: must be specified for an update',
    },
  ]);
}

/** `PUT /api/v1/namespaces/NAME/finalize`: nothing but `spec.finalizers` is taken. */
export async function handleFinalize(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object, warnings } = await readObject(context, call);
  checkName(object, call.name);
  const finalizers = (object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
  const asked = object.metadata.resourceVersion;
  const options = writeOptionsOf(call);
  const updated = await updateObject(context, call, (current) => finalized(current, finalizers, asked), {
    ...options,
    subresource: 'finalize',
  });
  return respondWithObject(context, call, updated, { warnings: [...warnings, ...options.warned] });
}

function finalized(
  current: Readonly<UnstructuredObject>,
  finalizers: readonly string[],
  resourceVersion: string | undefined,
): UnstructuredObject {
  const candidate = cloneJson(current) as UnstructuredObject;
  candidate.spec = { ...(candidate.spec as object), finalizers: [...finalizers] };
  candidate.metadata.resourceVersion = resourceVersion;
  return candidate;
}

/** `POST` to a collection. */
export async function handleCreate(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object, warnings } = await readObject(context, call);
  const options = writeOptionsOf(call);
  const stored = await createObject(context, call, object, options);
  return respondWithObject(context, call, stored, {
    status: 201,
    warnings: [...warnings, ...options.warned],
  });
}
