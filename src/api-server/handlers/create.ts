import { created } from '../http/index.js';
import type { ApiResponse } from '../http/index.js';
import { createObject } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { presentObject } from '../table/index.js';
import type { ResourceCall } from './handler.js';
import { readObject } from './read-object.js';
import { writeOptionsOf } from './write-options.js';

/** `POST` to a collection. */
export async function handleCreate(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object, warnings } = await readObject(context, call);
  const options = writeOptionsOf(call);
  const stored = await createObject(context, call, object, options);
  return created(presentObject(stored, call.kind, call, context.clock.now()), [
    ...warnings,
    ...options.warned,
  ]);
}
