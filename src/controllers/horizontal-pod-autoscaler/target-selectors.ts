import type { DeepReadonly, LabelMatcher, Pod } from '@rollkeeper/machinery/kubernetes';

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
