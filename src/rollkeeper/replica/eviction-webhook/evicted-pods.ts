import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Pod, untyped } from '@rollkeeper/runtime';
import type { Kind } from '@rollkeeper/runtime';
import type { WebhookRules } from '@rollkeeper/webhooks';

/** `policy/v1`. */
export interface Eviction extends KubernetesObject {
  readonly deleteOptions?: { readonly dryRun?: readonly string[] };
}

/** Requests at `pods/eviction`, whose objects are Evictions. */
export const EvictedPods: Kind<Eviction> = untyped(Pod);

/** The rules of the webhook of evictions; the chart's configuration says the same. */
export const EVICTION_WEBHOOK_RULES = {
  subresource: 'eviction',
  operations: ['CREATE'],
  failurePolicy: 'Ignore',
  timeoutSeconds: 5,
  sideEffects: 'NoneOnDryRun',
} as const satisfies WebhookRules & { readonly subresource: string };
