import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import {
  EVICTION_ASKED,
  ON_EVICTION,
  Pod,
  SURGE,
  decideReplacement,
  isEvictionToBeNoted,
} from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { unlessGone } from '@rollkeeper/client/api-client';
import { untyped } from '@rollkeeper/runtime';
import type { Kind } from '@rollkeeper/runtime';
import type { RefusedWith, WebhookAddress, WebhookRules } from '@rollkeeper/webhooks';

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

/** A pod whose eviction is requested, and the Deployment that it belongs to. */
export interface EvictedPod {
  readonly pod: DeepReadonly<Pod>;
  readonly deployment: DeepReadonly<Deployment>;
  readonly namespaceAnnotations: Readonly<Record<string, string>> | undefined;
}

/**
 * Refuses the eviction of a pod that its Deployment replaces first, as long as it is there, and says so on the pod for the
 * Deployment's controller. The budgets decide about evictions that the policy does not hold.
 * @throws what the API answers
 */
export async function holdEviction(
  { deployment, namespaceAnnotations, pod }: EvictedPod,
  client: Pick<ApiClient, 'patch'>,
  {
    dryRun,
    nowMs,
    signal,
  }: { readonly dryRun: boolean; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<RefusedWith | undefined> {
  const replacement = decideReplacement(pod, deployment, namespaceAnnotations);
  if (replacement === 'none') return undefined;
  if (!dryRun && isEvictionToBeNoted(pod, nowMs)) {
    const { name, namespace, uid } = pod.metadata;
    // The UID is given, because another pod of the same name is not meant.
    const body = { metadata: { uid, annotations: { [EVICTION_ASKED]: toRfc3339(nowMs) } } };
    await unlessGone(client.patch(Pod, { namespace, name }, { type: 'merge', body }, { signal }));
  }
  if (replacement === 'noted') return undefined;
  const by = `Deployment ${deployment.metadata.name} starts another pod first (${ON_EVICTION}: ${SURGE})`;
  return { code: 429, message: `Cannot evict pod before another one is available in its place: ${by}` };
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SERVICE = new RegExp(`^(${LABEL})/(${LABEL})(?::(\\d{1,5}))?$`);

/**
 * Reads the address at which the API server reaches a webhook: `NAMESPACE/SERVICE`, `NAMESPACE/SERVICE:PORT` or an
 * https URL.
 * @throws InvalidOptionError naming `option`
 */
export function parseWebhookAddress(text: string, option: string): WebhookAddress {
  const [, namespace, , name, , port = '443'] = SERVICE.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined)
    return { service: { namespace, name, port: Number(port) } };
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return { url: text };
  throw new InvalidOptionError(option, `"${text}" is neither NAMESPACE/SERVICE nor an https URL`);
}
