import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { TerminalError } from '@rollkeeper/machinery/errors';
import type { ApiClient, HorizontalPodAutoscaler } from '@rollkeeper/runtime';

interface Scale extends KubernetesObject {
  spec?: { replicas?: number };
  readonly status?: { readonly selector?: string; readonly replicas?: number };
}

/** Any object with a `scale` subresource. */
export interface ScaleTarget {
  readonly type: ResourceType;
  readonly scale: Scale;
}

/** @throws TerminalError for a kind unknown to the server; ApiStatusError */
export async function readTarget(
  { metadata, spec }: DeepReadonly<HorizontalPodAutoscaler>,
  client: ApiClient,
): Promise<ScaleTarget> {
  const { apiVersion = '', kind, name } = spec.scaleTargetRef;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const { resources } = await client.discover();
  const candidates = resources.filter((each) => each.kind === kind && each.group === group);
  const type = candidates.find((each) => apiVersionOf(each) === apiVersion) ?? candidates[0];
  if (!type) throw new TerminalError(`no matches for kind "${kind}" in group "${group}"`);
  const { namespace } = metadata;
  return { type, scale: await client.get<Scale>(type, { namespace, name }, { subresource: 'scale' }) };
}

/** With a precondition on the state that was read. @throws ApiStatusError */
export async function writeReplicas(
  { scale, type }: ScaleTarget,
  replicas: number,
  client: ApiClient,
): Promise<void> {
  await client.update(type, { ...scale, spec: { ...scale.spec, replicas } }, { subresource: 'scale' });
}
