import type { DeepReadonly, KubernetesObject, Pod, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, newControllerRef } from '@rollkeeper/machinery/kubernetes';

export interface NewPod {
  /** With `apiVersion` and `kind`. */
  readonly owner: DeepReadonly<KubernetesObject>;
  readonly template: DeepReadonly<PodTemplateSpec> | undefined;
  /** Chosen beforehand. */
  readonly name: string;
  /** What the name begins with. @default none: the name is no generated one */
  readonly generateName?: string;
}

/** The pod that the template of `owner` asks for. The caller may change it: it shares nothing with the template. */
export function podFromTemplate({ generateName, name, owner, template }: NewPod): Pod {
  const { metadata = {}, spec } = cloneJson((template ?? {}) as Partial<Pod>);
  const { annotations, finalizers, labels } = metadata as Partial<Pod['metadata']>;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(generateName !== undefined && { generateName }),
      namespace: owner.metadata.namespace,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [newControllerRef(owner)],
    },
    spec: spec ?? { containers: [] },
  };
}
