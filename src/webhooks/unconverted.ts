import { errorMessage } from '@rollkeeper/machinery/errors';
import type { ApiClient } from '@rollkeeper/runtime';
import { CustomResourceDefinition, isForbidden, unlessGone } from '@rollkeeper/runtime';
import type { WebhookDefinition } from './define-webhook.js';
import { clientConfigs, conversionsOf } from './webhook-configurations.js';
import type { CompiledWebhookServerOptions } from './webhook-server.options.js';

interface ConvertedKinds {
  readonly client: Pick<ApiClient, 'get'>;
  readonly webhooks: readonly WebhookDefinition[];
  readonly reachedAt: CompiledWebhookServerOptions['reachedAt'];
  readonly how: CompiledWebhookServerOptions['configurations'];
}

/**
 * Why the API server stores objects without the conversions of the webhooks, so that fields of other versions are lost.
 * A definition that is not installed has no objects.
 * @returns undefined if each definition that is installed is converted by a webhook. With configurations `leave`, one that
 *   must not be read counts as converted, because that right is needed for nothing else.
 * @throws what reading a definition throws, but for a missing right
 */
export async function unconvertedProblem({
  client,
  how,
  reachedAt,
  webhooks,
}: ConvertedKinds): Promise<string | undefined> {
  for (const name of conversionsOf(webhooks, clientConfigs(reachedAt, undefined)).keys()) {
    try {
      const definition = await unlessGone(
        client.get<CustomResourceDefinition>(CustomResourceDefinition, { name }),
      );
      const strategy = definition?.spec.conversion?.strategy ?? 'None';
      if (definition && strategy !== 'Webhook')
        return `the definition ${name} is not converted by its webhook: spec.conversion.strategy is ${strategy}, so fields of other versions are lost`;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (how !== 'leave')
        return `whether the definition ${name} is converted cannot be read: ${errorMessage(error)}; rollkeeper generate rbac --webhooks ${how} writes the rights`;
    }
  }
  return undefined;
}
