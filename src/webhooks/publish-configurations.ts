import { sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, Kind, Logger } from '@rollkeeper/runtime';
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  isConflict,
  serverSideApply,
  unlessGone,
} from '@rollkeeper/runtime';
import type { WebhookDefinition } from './define-webhook.js';
import type { ConfiguredWebhook, WebhookConfiguration } from './webhook-configurations.js';
import {
  clientConfigs,
  conversionsOf,
  mutatingWebhooks,
  validatingWebhooks,
} from './webhook-configurations.js';
import type { CompiledWebhookServerOptions } from './webhook-server.options.js';

export interface Publication {
  readonly client: ApiClient;
  readonly logger: Logger;
  /** The operator's: names the configurations, and owns their fields. */
  readonly name: string;
  readonly webhooks: readonly WebhookDefinition[];
  readonly reachedAt: CompiledWebhookServerOptions['reachedAt'];
  readonly how: CompiledWebhookServerOptions['configurations'];
}

/**
 * Makes the API server call the webhooks, and trust them. Safe to repeat: nothing is written where all is well.
 * @param ca the authority's certificates, PEM; undefined: `caBundle` is left to others
 */
export async function publishConfigurations(publication: Publication, ca: string | undefined): Promise<void> {
  const { how, reachedAt, webhooks } = publication;
  if (how === 'leave' || (how === 'patch' && ca === undefined)) return;
  const configOf = clientConfigs(reachedAt, ca);
  const write = how === 'apply' ? applyConfiguration : patchConfiguration;
  await write(publication, MutatingWebhookConfiguration, mutatingWebhooks(webhooks, configOf));
  await write(publication, ValidatingWebhookConfiguration, validatingWebhooks(webhooks, configOf));
  for (const name of conversionsOf(webhooks, configOf).keys()) await convertBy(publication, name, ca);
}

/**
 * Makes a definition be converted by its webhook.
 * @returns whether the definition is there
 */
export async function convertBy(
  { client, logger, reachedAt, webhooks }: Publication,
  name: string,
  ca: string | undefined,
): Promise<boolean> {
  const conversion = conversionsOf(webhooks, clientConfigs(reachedAt, ca)).get(name);
  const definition = await unlessGone(
    client.get<CustomResourceDefinition>(CustomResourceDefinition, { name }),
  );
  if (!definition || !conversion) {
    logger.warn('a definition that is to be converted is not installed', { definition: name });
    return false;
  }
  const stored = definition.spec.conversion;
  if (stored && contains(stored, conversion)) return true;
  await client.patch(CustomResourceDefinition, { name }, { type: 'merge', body: { spec: { conversion } } });
  logger.info('a definition is converted by its webhook', { definition: name });
  return true;
}

async function applyConfiguration(
  { client, name }: Publication,
  kind: Kind<WebhookConfiguration>,
  webhooks: readonly ConfiguredWebhook[],
): Promise<void> {
  const present = await unlessGone(client.get<WebhookConfiguration>(kind, { name }));
  if (webhooks.length === 0) {
    // An earlier release had some.
    if (present) await unlessGone(client.delete(kind, { name }));
    return;
  }
  if (present && contains(present.webhooks, webhooks)) return;
  await serverSideApply(client, kind, { metadata: { name }, webhooks }, { fieldManager: name });
}

async function patchConfiguration(
  { client, logger, name }: Publication,
  kind: Kind<WebhookConfiguration>,
  webhooks: readonly ConfiguredWebhook[],
): Promise<void> {
  if (webhooks.length === 0) return;
  const present = await unlessGone(client.get<WebhookConfiguration>(kind, { name }));
  if (!present) return logger.warn('a configuration of webhooks is not installed', { kind: kind.kind, name });
  const bundles = new Map(webhooks.map((webhook) => [webhook.name, webhook.clientConfig.caBundle]));
  const wanted = (present.webhooks ?? []).map((webhook) => {
    const caBundle = bundles.get(webhook.name);
    return caBundle === undefined
      ? webhook
      : { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } };
  });
  if (sameJson(present.webhooks, wanted)) return;
  try {
    await client.update(kind, { ...present, webhooks: wanted });
  } catch (error) {
    // Others change it as well; the next look comes soon.
    if (!isConflict(error)) throw error;
  }
}

/** Whether every field of `wanted` is in `stored`; the server adds defaults. */
function contains(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(stored) &&
      stored.length === wanted.length &&
      wanted.every((item, index) => contains(stored[index], item))
    );
  if (typeof wanted !== 'object' || wanted === null) return stored === wanted;
  if (!isJsonObject(stored)) return false;
  return Object.entries(wanted).every(([field, value]) => contains(stored[field], value));
}
