import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import { cloneJson } from '../../base/kubernetes/index.js';
import { conflict, invalid, notImplemented, unknownPath } from '../errors/index.js';
import { decodeBody, fieldValidationOf } from '../decoding/index.js';
import { ok } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import type { ScaleMapping } from '../kinds/index.js';
import { updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { applyPatch, patchTypeOf } from '../patch/index.js';
import { getObject } from './get.js';
import type { ResourceCall } from './handler.js';
import { normalizePatched } from './patch.js';
import { checkName } from './read-object.js';
import { writeOptionsOf } from './write-options.js';

const SCALE_TYPE = {
  group: 'autoscaling',
  version: 'v1',
  resource: 'scales',
  kind: 'Scale',
  namespaced: true,
};
const SCALE_SCHEMA = 'io.k8s.api.autoscaling.v1.Scale';

/** `GET`, `PUT` and `PATCH` of the `autoscaling/v1` Scale of an object. */
export async function handleScale(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { scale } = call.kind;
  if (!scale) throw unknownPath();
  if (call.request.method === 'GET') return ok(toScale(await getObject(context, call), scale));
  const body = await call.request.readBody();
  const change =
    call.request.method === 'PUT' ? await replacement(context, call, body) : patched(context, call, body);
  const updated = await updateObject(context, call, (current) => scaled(current, scale, call, change), {
    ...writeOptionsOf(call),
    subresource: '',
  });
  return ok(toScale(updated, scale));
}

type ScaleChange = (current: UnstructuredObject) => UnstructuredObject;

async function replacement(context: RegistryContext, call: ResourceCall, body: Buffer): Promise<ScaleChange> {
  const { object } = await decodeBody(body, {
    contentType: call.request.contentType,
    schemas: context.schemas,
    schema: SCALE_SCHEMA,
    kind: SCALE_TYPE,
    fieldValidation: fieldValidationOf(call.request.query),
  });
  object.metadata ??= { name: '' };
  checkName(object, call.name);
  return () => object;
}

function patched(context: RegistryContext, call: ResourceCall, body: Buffer): ScaleChange {
  const type = patchTypeOf(call.request.contentType);
  if (type === 'apply') throw notImplemented('server-side apply of a Scale');
  const patch = body.toString();
  return (current) => {
    const scale = applyPatch(current, { type, patch, schemas: context.schemas, schema: SCALE_SCHEMA });
    normalizePatched(scale, patch, context.schemas, SCALE_SCHEMA);
    return scale;
  };
}

function scaled(
  current: Readonly<UnstructuredObject>,
  mapping: ScaleMapping,
  call: ResourceCall,
  change: ScaleChange,
): UnstructuredObject {
  const scale = change(toScale(current, mapping));
  const version = scale.metadata.resourceVersion;
  if (version && version !== current.metadata.resourceVersion) throw conflict(call.kind.type, call.name);
  const replicas = (scale.spec as { replicas?: number } | undefined)?.replicas ?? 0;
  if (replicas < 0) {
    throw invalid(SCALE_TYPE, call.name, [
      {
        type: 'FieldValueInvalid',
        field: 'spec.replicas',
        message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
      },
    ]);
  }
  const candidate = cloneJson(current) as UnstructuredObject;
  candidate.metadata.resourceVersion = call.request.method === 'PUT' ? version : undefined;
  mapping.write(candidate, replicas);
  return candidate;
}

/** The Scale view of an object. */
export function toScale(object: Readonly<UnstructuredObject>, mapping: ScaleMapping): UnstructuredObject {
  const { specReplicas, statusReplicas, selector } = mapping.read(object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, selector },
  };
}
