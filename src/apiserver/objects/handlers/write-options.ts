import type { Caller } from '../../access/admission/index.js';
import type { Manager } from '../../schema/managed-fields/index.js';
import type { Subresource } from '../../kinds/index.js';
import { fieldManagerOf } from './field-manager.js';
import type { ResourceCall } from './handler.js';

/** Whether the request only wants to know what would happen. Any value that is allowed says so. */
export function isDryRun(query: URLSearchParams): boolean {
  return query.getAll('dryRun').some((value) => value !== '');
}

interface CallOptions {
  readonly dryRun: boolean;
  readonly manager: Manager;
  readonly caller: Caller;
}

/** How a request, whose options have been checked, wants something written. */
export function writeOptionsOf(call: ResourceCall): CallOptions {
  return { dryRun: isDryRun(call.request.query), manager: fieldManagerOf(call), ...callerOf(call) };
}

/** The part of an object that a request changes. The router hands these handlers no other subresource. */
export function changedPartOf({ subresource }: ResourceCall): Subresource {
  return subresource as Subresource;
}

const VERBS: Readonly<Record<string, string>> = { PATCH: 'patch', POST: 'create', PUT: 'update' };

/** On whose behalf a request writes. */
export function callerOf({ request }: ResourceCall): Pick<CallOptions, 'caller'> {
  // A write that conflicts with another one is retried, and warns again: the request keeps only one of equal warnings.
  return {
    caller: { user: request.user, verb: VERBS[request.method], warn: (text) => request.warn(text) },
  };
}
