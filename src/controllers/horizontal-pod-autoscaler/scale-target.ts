import type {
  DeepReadonly,
  KubernetesObject,
  LabelMatcher,
  Pod,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
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

/** Name and namespace of an autoscaler. */
interface AutoscalerName {
  readonly name: string;
  readonly namespace: string;
}

interface Known extends AutoscalerName {
  readonly matches: LabelMatcher;
}

/**
 * The pods that each autoscaler was last seen to count, as selectors: pods of two autoscalers would be scaled by both.
 * Source: hpaSelectors in k/k pkg/controller/podautoscaler/horizontal.go.
 */
export class TargetSelectors {
  private readonly known = new Map<string, Known>();

  /**
   * Notes the selector of an autoscaler.
   * @param matches absent: all pods of the namespace
   * @param pods those that it selects
   * @returns the autoscalers that select any of them, this one included, by name
   */
  put(
    { name, namespace }: AutoscalerName,
    matches: LabelMatcher = () => true,
    pods: readonly DeepReadonly<Pod>[] = [],
  ): readonly AutoscalerName[] {
    this.known.set(`${namespace}/${name}`, { name, namespace, matches });
    const selecting = [...this.known.values()].filter(
      (one) => one.namespace === namespace && pods.some(({ metadata }) => one.matches(metadata.labels)),
    );
    return selecting.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @param key `namespace/name` */
  delete(key: string): void {
    this.known.delete(key);
  }

  clear(): void {
    this.known.clear();
  }
}
