import type { KubernetesObject, LabelSelector, ResourceType } from '@rollkeeper/machinery/kubernetes';

const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

export const VALIDATING_WEBHOOKS: ResourceType = {
  ...ADMISSION,
  resource: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
};

export const MUTATING_WEBHOOKS: ResourceType = {
  ...ADMISSION,
  resource: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
};

export const ENDPOINT_SLICES: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};

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
