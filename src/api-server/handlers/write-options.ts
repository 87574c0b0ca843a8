import type { Caller } from '../admission/index.js';
import type { Manager } from '../managed-fields/index.js';
import { isDryRun } from './dry-run.js';
import { fieldManagerOf } from './field-manager.js';
import type { ResourceCall } from './handler.js';

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
  return { caller: { user: request.user, warn: (text) => void warned.push(text) }, warned };
}
