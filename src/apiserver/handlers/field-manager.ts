import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { invalid } from '../errors/index.js';
import type { Manager } from '../managed-fields/index.js';
import type { ResourceCall } from './handler.js';

const MAX_LENGTH = 128;

/**
 * Who owns what a request changes: `fieldManager`, or else the program that the client says to be.
 * @throws StatusError 422 for a name that cannot be one
 */
export function fieldManagerOf(call: ResourceCall): Manager {
  const { kind, request, subresource } = call;
  const asked = request.query.get('fieldManager') ?? '';
  if (asked !== '') checkName(asked);
  const [program = ''] = (request.headers['user-agent'] ?? '').split('/', 1);
  return {
    name: asked || program.slice(0, MAX_LENGTH) || 'unknown',
    operation: 'Update',
    apiVersion: apiVersionOf(kind.type),
    subresource,
  };
}

/** The same for an apply, which must name itself. @throws StatusError 422 */
export function applyManagerOf(call: ResourceCall): Manager {
  if (!call.request.query.get('fieldManager')) {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [
      {
        type: 'FieldValueRequired',
        field: 'fieldManager',
        message: 'Required value: is required for apply patch',
      },
    ]);
  }
  return { ...fieldManagerOf(call), operation: 'Apply' };
}

function checkName(name: string): void {
  const problem =
    name.length > MAX_LENGTH
      ? ({
          type: 'FieldValueTooLong',
          message: `Too long: may not be more than ${MAX_LENGTH} bytes`,
        } as const)
      : /^[\P{C}]*$/u.test(name)
        ? undefined
        : ({
            type: 'FieldValueInvalid',
            message: `Invalid value: ${JSON.stringify(name)}: should only contain printable characters`,
          } as const);
  if (!problem) return;
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [{ field: 'fieldManager', ...problem }]);
}
