import type { ApiClient } from '@rollkeeper/client/api-client';
import { isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { TimeoutError } from '@rollkeeper/machinery/errors';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { CustomResourceDefinition } from '@rollkeeper/runtime';

/** Pause between two looks. */
const PAUSE_MS = 20;
const TIMEOUT_MS = 30_000;

/**
 * Resolves when the API server serves everything that a definition adds. The server accepts a definition at once, but
 * serves its objects and lists them in discovery a little later.
 * @throws TimeoutError saying what is missing
 */
export async function definitionServed(
  client: ApiClient,
  name: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const deadlineMs = clock.monotonicNow() + TIMEOUT_MS;
  for (;;) {
    const missing = await missingOf(client, name, signal);
    if (missing === undefined) return;
    if (clock.monotonicNow() >= deadlineMs)
      throw new TimeoutError(`the definition ${name} was not in force within ${TIMEOUT_MS} ms: ${missing}`);
    await clock.sleep(PAUSE_MS, signal);
  }
}

/** In words, or `undefined` if nothing is. */
async function missingOf(client: ApiClient, name: string, signal: AbortSignal): Promise<string | undefined> {
  const { spec, status } = await client.get(CustomResourceDefinition, { name }, { signal });
  const { conditions = [] } = status ?? {};
  if (!conditions.some(({ status: is, type }) => type === 'Established' && is === 'True'))
    return conditions.map(({ message, status: is, type }) => `${type} is ${is}: ${message}`).join('; ');
  const { resources } = await client.discover({ everyVersion: true, signal });
  for (const { name: version, served } of spec.versions) {
    if (!served) continue;
    const known = resources.find(
      (type) => type.group === spec.group && type.version === version && type.resource === spec.names.plural,
    );
    if (!known) return `discovery does not have ${version}`;
    if (!(await isServed(client, known, signal))) return `${version} is not served`;
  }
  return undefined;
}

async function isServed(client: ApiClient, type: ResourceType, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(type, { limit: 1, signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
