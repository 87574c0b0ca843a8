import type { Enqueue, Informer, InformerSource, ResourceEvent } from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, Namespace, partOf } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../annotations.js';
import { isSetting } from './names.js';

/** Of a Namespace what may be a default of its Deployments: some bytes each, and for most nothing but the name. */
export const NAMESPACE_POLICIES = partOf(Namespace, 'rollout-policies', keepPolicies);

export interface PolicyDefaults {
  readonly defaultsOf: (namespace: string) => Annotations | undefined;
  /** Looks at the Deployments of a Namespace of which a default has changed. Returns the unsubscribe. */
  readonly watch: (enqueue: Enqueue) => () => void;
}

/** Where Namespaces may not be read, no defaults are known, and each Deployment has its own annotations alone. */
export function policyDefaults(
  informers: Pick<InformerSource, 'partialInformerFor'>,
  deployments: Informer<Deployment>,
): PolicyDefaults {
  const namespaces = informers.partialInformerFor<KubernetesObject>(NAMESPACE_POLICIES, { optional: true });
  return {
    defaultsOf: (namespace) => namespaces.lister.get(namespace)?.metadata.annotations,
    watch: (enqueue) =>
      namespaces.addEventHandler((event) => {
        if (!hasChanged(event)) return;
        const { name } = event.object.metadata;
        for (const deployment of deployments.lister.byIndex(NAMESPACE_INDEX, name))
          enqueue(requestFor(deployment, event));
      }),
  };
}

function requestFor(
  deployment: DeepReadonly<Deployment>,
  change: ResourceEvent<KubernetesObject>,
): Parameters<Enqueue>[0] {
  const { name, namespace } = deployment.metadata;
  const { resourceVersion } = change.object.metadata;
  const cause = resourceVersion === undefined ? undefined : { type: Namespace, resourceVersion };
  return { ref: { namespace, name }, change, cause, reason: 'child-change', onlyIfNeeded: true };
}

function hasChanged(event: ResourceEvent<KubernetesObject>): boolean {
  // Its Deployments come with their own initial list, after its defaults are known.
  if (event.type === 'added' && event.initial) return false;
  const before = event.type === 'modified' ? event.old.metadata.annotations : undefined;
  const after = event.type === 'deleted' ? undefined : event.object.metadata.annotations;
  return !semanticEqual(before ?? {}, after ?? {});
}

function keepPolicies(namespace: Namespace): KubernetesObject {
  const { apiVersion, kind, metadata } = namespace;
  const { annotations = {}, name, resourceVersion, uid } = metadata;
  const kept = Object.entries(annotations).filter(([annotation]) => isSetting(annotation));
  const policies = kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {};
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, ...policies } };
}
