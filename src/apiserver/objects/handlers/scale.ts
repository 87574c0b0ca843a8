import type { Scale } from '@rollkeeper/machinery/types/autoscaling-v1';
import type { DecodedObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import {
  apiVersionOf,
  cloneJson,
  NON_NEGATIVE,
  objectOfKind,
  uncheckedObject,
} from '@rollkeeper/machinery/kubernetes';
import { StatusError, badRequest, conflict, invalid, unknownPath } from '../../schema/errors/index.js';
import { checkWriteOptions, decodeApplied, decodeBody } from '../../http/decoding/index.js';
import { ok } from '../../http/index.js';
import type { ApiResponse } from '../../http/index.js';
import { SHOWN_SCALE, invalidField, isDefinedByUsers } from '../../kinds/index.js';
import type { ScaleMapping } from '../../kinds/index.js';
import type { ManagedFieldsEntry } from '../../schema/managed-fields/index.js';
import { applyScale, updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { DecodeError } from '../../schema/index.js';
import { presentObject } from '../../http/table.js';
import { patchTypeOf } from '../../schema/patch/index.js';
import type { PatchType } from '../../schema/patch/index.js';
import { checkAppliedVersion } from './apply.js';
import { applyManagerOf } from './field-manager.js';
import { getState } from './get.js';
import type { ResourceCall } from './handler.js';
import { patchedObject } from './patch.js';
import { checkName, checkNamespace, checkPatchedIdentity, checkType, isKnownType } from './read-object.js';
import { sentAttributes } from './sent-attributes.js';
import { writeOptionsOf } from './write-options.js';

const SCALE_TYPE = SHOWN_SCALE.type;
const SCALE_SCHEMA = 'io.k8s.api.autoscaling.v1.Scale';
const SCALE = { type: SCALE_TYPE, schema: SCALE_SCHEMA };

/** `GET`, `PUT` and `PATCH` of the `autoscaling/v1` Scale of an object. */
export async function handleScale(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { scale } = call.kind;
  if (!scale) throw unknownPath();
  if (call.request.method === 'GET')
    return shown(context, call, (await getState(context, call)).object, scale);
  const { change, options } = await writeOf(context, call, scale);
  const admitted = async (current: Readonly<UnstructuredObject>): Promise<ChangedScale> => {
    const oldObject = toScale(current, scale);
    const changed = change(oldObject, current);
    const object = cloneJson<UnstructuredObject>(changed.scale);
    const attributes = sentAttributes(call, SCALE, object, { ...options, operation: 'UPDATE' });
    await context.admission.mutateSent({ ...attributes, oldObject });
    return { ...changed, scale: object };
  };
  const updated = await updateObject(
    context,
    call,
    async (current) => scaled(current, scale, call, await admitted(current)),
    {
      ...options,
      subresource: '',
      admission: { subresource: 'scale', sent: SCALE, of: (object) => toScale(object, scale) },
    },
  );
  return shown(context, call, updated.object, scale);
}

function shown(
  { clock }: RegistryContext,
  call: ResourceCall,
  object: Readonly<UnstructuredObject>,
  mapping: ScaleMapping,
): ApiResponse {
  return ok(presentObject(toScale(object, mapping), SHOWN_SCALE, call, clock.now()));
}

interface ChangedScale {
  readonly scale: UnstructuredObject;
  /** The managed fields of the object, if the change itself decides on its owners. */
  readonly managedFields?: ManagedFieldsEntry[];
}

/** Makes the new Scale out of that of the object as it is. */
type ScaleChange = (scale: UnstructuredObject, current: Readonly<UnstructuredObject>) => ChangedScale;

async function writeOf(context: RegistryContext, call: ResourceCall, mapping: ScaleMapping) {
  const { contentType, method } = call.request;
  const type = method === 'PUT' ? undefined : patchTypeOf(contentType);
  const body = await call.request.readBody();
  if (type === 'apply') {
    const change = await applied(context, call, body, mapping);
    // An apply knows its manager itself.
    return { change, options: { ...writeOptionsOf(call), manager: undefined } };
  }
  const change = type ? patched(context, call, body, type) : await replacement(context, call, body);
  return { change, options: writeOptionsOf(call) };
}

async function readScale(
  context: RegistryContext,
  call: ResourceCall,
  body: Buffer,
): Promise<UnstructuredObject> {
  const object = await decodedScale(context, call, body);
  checkNamespace(object, call);
  checkName(object, call.name);
  return object;
}

/**
 * A genuine server cannot say what is wrong with the Scale of a custom resource: it looks for its type in the wrong
 * place.
 */
const UNSAID =
  'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"';

async function decodedScale(
  context: RegistryContext,
  call: ResourceCall,
  body: Buffer,
): Promise<UnstructuredObject> {
  const isUnsaid = isDefinedByUsers(call.kind) && call.request.method === 'PUT';
  const { object, warnings } = await decodeBody(body, {
    contentType: call.request.contentType,
    schemas: context.schemas,
    schema: SCALE_SCHEMA,
    kind: SCALE_TYPE,
    fieldValidation: checkWriteOptions(call.request),
    ...(!isUnsaid && { isKnown: isKnownType(context) }),
  }).catch((error: unknown) => {
    const isUnread = error instanceof StatusError && error.cause instanceof DecodeError;
    throw isUnsaid && isUnread ? badRequest(UNSAID, error) : error;
  });
  for (const warning of warnings) call.request.warn(warning);
  try {
    checkType(object, SCALE_TYPE, isKnownType(context));
  } catch (error) {
    throw isUnsaid ? badRequest(UNSAID, error) : error;
  }
  return object;
}

async function replacement(context: RegistryContext, call: ResourceCall, body: Buffer): Promise<ScaleChange> {
  const scale = await readScale(context, call, body);
  return () => ({ scale });
}

function patched(
  context: RegistryContext,
  call: ResourceCall,
  body: Buffer,
  type: Exclude<PatchType, 'apply'>,
): ScaleChange {
  const patch = body.toString();
  return (current) => {
    const { findings: _findings, object: scale } = patchedObject(context, {
      ...{ type, patch, current },
      ...{ kind: SCALE_TYPE, schema: SCALE_SCHEMA },
    });
    checkPatchedIdentity(scale, call);
    return { scale };
  };
}

async function applied(
  context: RegistryContext,
  call: ResourceCall,
  body: Buffer,
  mapping: ScaleMapping,
): Promise<ScaleChange> {
  const manager = applyManagerOf(call);
  const checkConfigType = ({ apiVersion, kind, ...rest }: Readonly<Record<string, unknown>>): void => {
    checkAppliedVersion(apiVersion, apiVersionOf(SCALE_TYPE));
    const named = { ...rest, apiVersion, kind: typeof kind === 'string' ? kind : '' };
    checkType(uncheckedObject(named), SCALE_TYPE, isKnownType(context));
  };
  const { complete, config } = await decodeApplied(body, {
    ...{ schemas: context.schemas, schema: SCALE_SCHEMA, kind: SCALE_TYPE },
    fieldValidation: checkWriteOptions(call.request),
    checkType: checkConfigType,
  });
  const finished = (merged: Record<string, unknown>): UnstructuredObject => {
    const { object, warnings } = complete(merged);
    checkPatchedIdentity(object, call);
    for (const warning of warnings) call.request.warn(warning);
    return object;
  };
  const applying = { config, manager, mapping, schema: SCALE_SCHEMA, force: call.request.flag('force') };
  return (scale, current) => applyScale(context, call, { ...applying, current, scale, complete: finished });
}

function scaled(
  current: Readonly<UnstructuredObject>,
  mapping: ScaleMapping,
  call: ResourceCall,
  { managedFields, scale }: ChangedScale,
): UnstructuredObject {
  checkPreconditions(scale, current, call);
  const replicas = objectOfKind<DecodedObject<Scale>>(scale).spec?.replicas ?? 0;
  // A custom object is judged with its new number.
  if (replicas < 0 && !isDefinedByUsers(call.kind))
    throw invalid(SCALE_TYPE, call.name, [invalidField('spec.replicas', replicas, NON_NEGATIVE)]);
  const candidate: UnstructuredObject = cloneJson(current);
  const isReplaced = call.request.method === 'PUT';
  candidate.metadata.resourceVersion = isReplaced ? scale.metadata.resourceVersion : undefined;
  if (managedFields) candidate.metadata.managedFields = managedFields;
  mapping.write(candidate, replicas);
  return candidate;
}

/** A version or a UID in a Scale means an object that has it. */
function checkPreconditions(
  { metadata: { resourceVersion, uid } }: UnstructuredObject,
  { metadata }: Readonly<UnstructuredObject>,
  { kind: { type }, name }: ResourceCall,
): void {
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) throw conflict(type, name);
  if (!uid || uid === metadata.uid) return;
  const problem = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`;
  throw conflict({ ...type, resource: `${type.resource}/scale` }, name, problem);
}

/** The Scale view of an object. */
function toScale(object: Readonly<UnstructuredObject>, mapping: ScaleMapping): UnstructuredObject {
  const { specReplicas, statusReplicas, selector } = mapping.read(object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, ...(selector !== '' && { selector }) },
  };
}
