import type { KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';

export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly Webhook[];
}

/** The fields of a webhook that matter here; the API gives each its default. */
export interface Webhook {
  readonly name: string;
  readonly failurePolicy?: string;
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly operations?: readonly string[];
  }[];
  readonly clientConfig?: {
    readonly url?: string;
    readonly caBundle?: string;
    readonly service?: { readonly namespace: string; readonly name: string };
  };
}

export interface EndpointSlice extends KubernetesObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}
