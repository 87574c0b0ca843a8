import type { DecodedObject, Namespace, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import { invalid, StatusError } from '../../schema/errors/index.js';
import type { ApiResponse } from '../../http/index.js';
import { createObject, updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { copyEmptied } from '../../schema/index.js';
import type { ResourceCall } from './handler.js';
import { respondWithObject } from './handler.js';
import { checkName, readObject } from './read-object.js';
import { changedPartOf, writeOptionsOf } from './write-options.js';

/** `PUT` of an object or of its status. */
export async function handleUpdate(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const object = await readObject(context, call);
  checkName(object, call.name);
  const options = writeOptionsOf(call);
  const subresource = changedPartOf(call);
  const replace = ({ metadata: { uid } }: Readonly<UnstructuredObject>): UnstructuredObject => {
    // An object of the same name with another UID is noticed first.
    const isAnother = object.metadata.uid !== undefined && object.metadata.uid !== uid;
    if (call.kind.needsVersionOnUpdate && !isAnother && (object.metadata.resourceVersion ?? '0') === '0')
      throw versionMissing(call);
    const candidate = cloneJson<UnstructuredObject>(object);
    copyEmptied(object, candidate);
    return candidate;
  };
  try {
    const updated = await updateObject(context, call, replace, { ...options, subresource });
    return respondWithObject(context, call, updated);
  } catch (error) {
    const isMissing = error instanceof StatusError && error.status.reason === 'NotFound';
    if (!isMissing || subresource !== '' || !call.kind.createsOnUpdate) throw error;
    // A request with a version is about an existing object.
    if (object.metadata.resourceVersion) throw error;
    const made = await createObject(context, call, object, options);
    return respondWithObject(context, call, made, {
      status: 201,
    });
  }
}

/** Some kinds are only replaced by clients that name the version that they replace. */
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

/** `PUT /api/v1/namespaces/NAME/finalize`: of the spec its finalizers are taken, and metadata as in every update. */
export async function handleFinalize(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const object = await readObject(context, call);
  checkName(object, call.name);
  const options = writeOptionsOf(call);
  const updated = await updateObject(context, call, (current) => finalized(current, object), {
    ...options,
    subresource: 'finalize',
  });
  return respondWithObject(context, call, updated);
}

function finalized(
  current: Readonly<UnstructuredObject>,
  sent: Readonly<UnstructuredObject>,
): UnstructuredObject {
  const candidate: UnstructuredObject = cloneJson(sent);
  const { spec: wanted }: DecodedObject<Namespace> = candidate;
  const { spec }: DecodedObject<Namespace> = current;
  candidate.spec = { ...cloneJson(spec), finalizers: wanted?.finalizers };
  return candidate;
}

/** `POST` to a collection. */
export async function handleCreate(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const object = await readObject(context, call);
  const options = writeOptionsOf(call);
  const stored = await createObject(context, call, object, options);
  return respondWithObject(context, call, stored, {
    status: 201,
  });
}
