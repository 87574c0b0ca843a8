import type { Caller } from '../admission/index.js';
import type { Manager } from '../managed-fields/index.js';
import { fieldManagerOf } from './field-manager.js';
import type { ResourceCall } from './handler.js';
import { badRequest } from '../errors/index.js';

/**
 * Whether the request only wants to know what would happen.
 * @throws StatusError 400 for a `dryRun` other than `All`
 */
export function isDryRun(query: URLSearchParams, fromBody: readonly string[] = []): boolean {
  const values = [...query.getAll('dryRun'), ...fromBody].filter((value) => value !== '');
  for (const value of values) {
    if (value !== 'All') {
      throw badRequest(`dryRun: Unsupported value: ${JSON.stringify(value)}: supported values: "All"`);
    }
  }
  return values.length > 0;
}

export interface CallOptions {
  readonly dryRun: boolean;
  readonly manager: Manager;
  readonly caller: Caller;
  /** What the caller has been warned of. */
  readonly warned: readonly string[];
}

/**
 * How a request wants something written.
 * @throws StatusError 400, 422
 */
export function writeOptionsOf(call: ResourceCall): CallOptions {
  return { dryRun: isDryRun(call.request.query), manager: fieldManagerOf(call), ...callerOf(call) };
}

/** On whose behalf a request writes. */
export function callerOf({ request }: ResourceCall): Pick<CallOptions, 'caller' | 'warned'> {
  const warned: string[] = [];
  const warn = (text: string): void => {
    // A write that meets another one is tried again, and says the same again.
    if (!warned.includes(text)) warned.push(text);
  };
  return { caller: { user: request.user, warn }, warned };
}
