import type { ApiClient } from '@rollkeeper/runtime';
import { apiStatusOf, isForbidden, isNotFound } from '@rollkeeper/runtime';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { ConfigMap } from '@rollkeeper/machinery/kubernetes';
import { parseCheck } from './check-definition.js';
import type { CheckDefinitions } from './check-needs.js';

/** The definitions as they are now: read where a check is open, so that nothing is watched for them. */
export async function readDefinitions(
  client: Pick<ApiClient, 'get'>,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<CheckDefinitions> {
  let configMap: ConfigMap;
  try {
    configMap = await client.get<ConfigMap>(ConfigMap, ref, { signal });
  } catch (error) {
    if (isNotFound(error)) return { problem: `there is no ConfigMap ${ref.name}` };
    if (isForbidden(error))
      return { problem: `ConfigMap ${ref.name} may not be read: ${errorMessage(error)}` };
    if (apiStatusOf(error) === undefined || signal.aborted) throw error;
    return { problem: `ConfigMap ${ref.name} cannot be read: ${errorMessage(error)}` };
  }
  const { data = {} } = configMap;
  return {
    find: (name) => {
      const text = Object.hasOwn(data, name) ? data[name] : undefined;
      return text === undefined ? undefined : parseCheck(text);
    },
  };
}
