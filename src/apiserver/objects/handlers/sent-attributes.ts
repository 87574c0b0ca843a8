import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { Caller, Operation, SentType, WriteAttributes } from '../../access/admission/index.js';
import type { ResourceCall } from './handler.js';

/** How admission is asked about what a subresource is sent. */
export function sentAttributes(
  { kind, name, namespace, subresource }: ResourceCall,
  sent: SentType,
  object: UnstructuredObject,
  {
    operation = 'CREATE',
    ...options
  }: { readonly operation?: Operation; readonly dryRun: boolean; readonly caller: Caller },
): WriteAttributes {
  const { caller, dryRun } = options;
  object.apiVersion = apiVersionOf(sent.type);
  object.kind = sent.type.kind;
  return { operation, kind, subresource, namespace, name, sent, object, dryRun, caller };
}
