import type { DeepReadonly, KubernetesObject, Pod, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { writableCopy, newControllerRef } from '@rollkeeper/machinery/kubernetes';

interface NewPod {
  /** With `apiVersion` and `kind`. */
  readonly owner: DeepReadonly<KubernetesObject>;
  readonly template: DeepReadonly<PodTemplateSpec> | undefined;
  /** Chosen in advance. */
  readonly name: string;
  /** Prefix of the name. @default none: the name is not a generated one */
  readonly generateName?: string;
}

/** The pod for the template of `owner`. The caller may change it: it shares nothing with the template. */
export function podFromTemplate({ generateName, name, owner, template }: NewPod): Pod {
  const { metadata = {}, spec } = writableCopy<PodTemplateSpec>(template ?? {});
  const { annotations, finalizers, labels } = metadata;
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
