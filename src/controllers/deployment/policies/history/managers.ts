import type { ApiClient } from '@rollkeeper/runtime';
import { unlessGone } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { findCondition, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { typeOfDeployment } from '../../kubernetes/deployment-api.js';
import { RESIZING_PODS, ROLLOUT_HELD, WAITING_FOR_TURN } from '../common/tell.js';

/** Reasons of Progressing while what is asked for has no ReplicaSet yet. */
const NOT_BEGUN: ReadonlySet<string> = new Set([ROLLOUT_HELD, WAITING_FOR_TURN, RESIZING_PODS]);

/**
 * The field manager that wrote the template last, from the API, because the caches keep no managedFields. Only for a Deployment whose
 * history is kept, and whose spec has changed since it was last looked at, or waits to begin with it.
 */
export async function readTemplateManager(
  deployment: DeepReadonly<Deployment>,
  keepsHistory: () => boolean,
  client: ApiClient,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { metadata, status } = deployment;
  const isNew = (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  const { reason = '' } = findCondition(status?.conditions, 'Progressing') ?? {};
  if (!isNew && !NOT_BEGUN.has(reason)) return undefined;
  if (!keepsHistory()) return undefined;
  const fresh = await unlessGone(client.get<Deployment>(typeOfDeployment(deployment), metadata, { signal }));
  return fresh?.metadata.generation === metadata.generation
    ? lastManagerOfTemplate(fresh?.metadata.managedFields)
    : undefined;
}

/** `undefined` where the server does not keep them. */
export function lastManagerOfTemplate(managedFields: readonly unknown[] = []): string | undefined {
  const writers = managedFields.filter(isJsonObject).filter(({ fieldsV1 }) => ownsTemplate(fieldsV1));
  const [last] = writers.toSorted((a, b) => (String(a['time']) < String(b['time']) ? 1 : -1));
  const manager = last?.['manager'];
  return typeof manager === 'string' ? manager : undefined;
}

function ownsTemplate(fields: unknown): boolean {
  if (!isJsonObject(fields)) return false;
  const spec = fields['f:spec'];
  return isJsonObject(spec) && spec['f:template'] !== undefined;
}
