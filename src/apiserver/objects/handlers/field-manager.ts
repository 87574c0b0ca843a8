import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { Manager } from '../../schema/managed-fields/index.js';
import type { ResourceCall } from './handler.js';

const MAX_LENGTH = 128;

/** The owner of what a request changes: `fieldManager`, or else the program that the client says it is. */
export function fieldManagerOf(call: ResourceCall): Manager {
  const { kind, request, subresource } = call;
  const asked = request.query.get('fieldManager') ?? '';
  const [program = ''] = (request.headers['user-agent'] ?? '').split('/', 1);
  return {
    name: asked || program.slice(0, MAX_LENGTH) || 'unknown',
    operation: 'Update',
    apiVersion: apiVersionOf(kind.type),
    subresource,
  };
}

/** The same for an apply. */
export function applyManagerOf(call: ResourceCall): Manager {
  return { ...fieldManagerOf(call), operation: 'Apply' };
}
