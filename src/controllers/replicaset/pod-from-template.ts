import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { newControllerRef } from '../../base/kubernetes/index.js';
import { podNamePrefix } from './pod-name.js';

/** The pod that `replicaSet` asks for, under a name that was chosen beforehand. */
export function podFromTemplate(replicaSet: DeepReadonly<ReplicaSet>, name: string): Pod {
  const template = structuredClone(replicaSet.spec.template ?? {}) as Partial<Pod>;
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: podNamePrefix(replicaSet.metadata.name),
      namespace: replicaSet.metadata.namespace,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [newControllerRef({ ...replicaSet, apiVersion: 'apps/v1', kind: 'ReplicaSet' })],
    },
    spec: template.spec ?? { containers: [] },
  };
}
