import type { Pod, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, objectOfKind, unstructured } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { badRequest, conflict, unexpected } from '../../schema/errors/index.js';
import { decodeBody, checkWriteOptions } from '../../http/decoding/index.js';
import { created } from '../../http/index.js';
import type { ApiResponse } from '../../http/index.js';
import type { FieldError } from '../../kinds/index.js';
import { notSupportedField, requiredField } from '../../kinds/index.js';
import { updateObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import type { ResourceCall } from './handler.js';
import { checkNamespace, checkType, isKnownType } from './read-object.js';
import { sentAttributes } from './sent-attributes.js';
import { writeOptionsOf } from './write-options.js';

const BINDING_TYPE = { group: '', version: 'v1', resource: 'bindings', kind: 'Binding', namespaced: true };

const BINDING = { type: BINDING_TYPE, schema: 'io.k8s.api.core.v1.Binding' };

interface Binding extends UnstructuredObject {
  target?: { kind?: string; name?: string };
}

/**
 * `POST` to a pod's `binding`: puts it on a node, once (apiserver's pod `BindingREST`). Of old, it was sent to the collection
 * `bindings`, and its name was that of the pod.
 */
export async function handleBinding(context: RegistryContext, asked: ResourceCall): Promise<ApiResponse> {
  const call = { ...asked };
  const { object, warnings } = await decodeBody(await call.request.readBody(), {
    contentType: call.request.contentType,
    schemas: context.schemas,
    schema: BINDING.schema,
    kind: BINDING_TYPE,
    fieldValidation: checkWriteOptions(call.request),
    isKnown: isKnownType(context),
  });
  for (const warning of warnings) call.request.warn(warning);
  checkType(object, BINDING_TYPE, isKnownType(context));
  const binding: Binding = objectOfKind(object);
  checkNamespace(binding, call);
  const isOfOld = call.name === '';
  if (isOfOld) call.name = binding.metadata.name;
  const options = writeOptionsOf(call);
  const own = isOfOld ? { ...call, kind: { ...call.kind, type: BINDING_TYPE }, subresource: '' } : call;
  const attributes = sentAttributes(own, BINDING, binding, options);
  await context.admission.mutateSent(attributes);
  if (binding.metadata.name !== call.name) {
    throw badRequest(`name in URL does not match name in Binding object`);
  }
  const node = targetOf(binding);
  const time = toRfc3339(context.clock.now());
  await context.admission.validate(attributes);
  await updateObject(context, call, (current) => bound(current, call, binding, node, time), {
    ...options,
    subresource: 'binding',
    admission: 'done',
  });
  return created({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

/** The name of the node. @throws StatusError 500: what the genuine server makes of field errors that it does not expect */
function targetOf({ target: { kind, name } = {} }: Binding): string {
  const errors: FieldError[] = [];
  if (kind && kind !== 'Node') errors.push(notSupportedField('target.kind', kind, ['Node', '<empty>']));
  if (!name) errors.push(requiredField('target.name'));
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  if (texts.length > 0) throw unexpected(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
  return name ?? '';
}

function bound(
  current: Readonly<UnstructuredObject>,
  call: ResourceCall,
  binding: Binding,
  node: string,
  time: string,
): UnstructuredObject {
  const pod: Pod = objectOfKind(cloneJson(current));
  const problem =
    pod.metadata.deletionTimestamp !== undefined
      ? `pod ${pod.metadata.name} is being deleted, cannot be assigned to a host`
      : pod.spec.nodeName
        ? `pod ${pod.metadata.name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`
        : pod.spec.schedulingGates?.length
          ? `pod ${pod.metadata.name} has non-empty .spec.schedulingGates`
          : undefined;
  if (problem !== undefined) throw conflict({ group: '', resource: 'pods/binding' }, call.name, problem);
  pod.metadata.resourceVersion = undefined;
  if (binding.metadata.annotations) {
    pod.metadata.annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations };
  }
  // Labels of the pod's own stay as they are.
  if (binding.metadata.labels) pod.metadata.labels = { ...binding.metadata.labels, ...pod.metadata.labels };
  pod.spec.nodeName = node;
  const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== 'PodScheduled');
  // Meant for the time before the binding: it would keep room on another node.
  const { nominatedNodeName: _former, ...status } = pod.status ?? {};
  pod.status = {
    ...status,
    conditions: [...others, { type: 'PodScheduled', status: 'True', lastTransitionTime: time }],
  };
  return unstructured(pod);
}
