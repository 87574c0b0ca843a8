import { untyped, Pod } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/runtime';
import type { PluginFactory } from '../framework/plugin.js';

interface BinderParts {
  readonly client: ApiClient;
  /** Throws once another may lead: asked right before a binding is sent. */
  readonly assertMayWrite: () => void;
}

interface Binding extends KubernetesObject {
  target: { apiVersion: string; kind: string; name: string };
}

/** Binds by the pod's binding subresource, which refuses a pod that is bound, is another than meant, or is being deleted. */
export function defaultBinder({ assertMayWrite, client }: BinderParts): PluginFactory {
  return () => ({
    name: 'DefaultBinder',
    async bind({ pod: { pod } }, node, signal) {
      const { name, namespace, uid } = pod.metadata;
      const binding: Binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace, uid },
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      };
      await client.create(untyped(Pod), binding, { subresource: 'binding', guard: signal, assertMayWrite });
      return undefined;
    },
  });
}
