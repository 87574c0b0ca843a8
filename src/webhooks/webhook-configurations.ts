import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/runtime';
import type { WebhookDefinition } from './define-webhook.js';
import type { CompiledWebhookServerOptions } from './webhook-server.options.js';

interface ClientConfig {
  readonly service?: object;
  readonly url?: string;
  readonly caBundle?: string;
}

export interface ConfiguredWebhook {
  readonly name: string;
  readonly clientConfig: ClientConfig;
}

export interface WebhookConfiguration extends KubernetesObject {
  webhooks?: ConfiguredWebhook[];
}

interface Conversion {
  readonly strategy: 'Webhook';
  readonly webhook: {
    readonly clientConfig: ClientConfig;
    readonly conversionReviewVersions: readonly string[];
  };
}

export type WebhookVerb = 'mutate' | 'validate' | 'convert';

/** The path at which the server answers for a webhook. */
export function pathOf(verb: WebhookVerb, name: string): string {
  return `/${verb}/${name}`;
}

type ClientConfigOf = (verb: WebhookVerb, name: string) => ClientConfig;

/** @param ca the authority's certificates, PEM; undefined: left to others */
export function clientConfigs(
  reachedAt: CompiledWebhookServerOptions['reachedAt'],
  ca: string | undefined,
): ClientConfigOf {
  const caBundle = ca === undefined ? {} : { caBundle: Buffer.from(ca).toString('base64') };
  return (verb, name) => {
    const path = pathOf(verb, name);
    if ('url' in reachedAt) return { url: new URL(path, reachedAt.url).href, ...caBundle };
    return { service: { ...reachedAt.service, path }, ...caBundle };
  };
}

/** The entries of a MutatingWebhookConfiguration. */
export function mutatingWebhooks(
  webhooks: readonly WebhookDefinition[],
  configOf: ClientConfigOf,
): ConfiguredWebhook[] {
  return webhooks
    .filter((webhook) => webhook.default && operationsOf(webhook, 'mutate').length > 0)
    .map((webhook) => ({
      ...entryOf(webhook, 'mutate', configOf),
      reinvocationPolicy: webhook.rules.reinvocationPolicy ?? 'Never',
    }));
}

/** The entries of a ValidatingWebhookConfiguration. */
export function validatingWebhooks(
  webhooks: readonly WebhookDefinition[],
  configOf: ClientConfigOf,
): ConfiguredWebhook[] {
  return webhooks.filter(({ validate }) => validate).map((webhook) => entryOf(webhook, 'validate', configOf));
}

/** By the name of the CustomResourceDefinition. */
export function conversionsOf(
  webhooks: readonly WebhookDefinition[],
  configOf: ClientConfigOf,
): ReadonlyMap<string, Conversion> {
  return new Map(
    webhooks
      .filter(({ convert }) => convert)
      .map(({ kind, name }) => [
        qualifiedResource(kind),
        {
          strategy: 'Webhook',
          webhook: { clientConfig: configOf('convert', name), conversionReviewVersions: ['v1'] },
        },
      ]),
  );
}

function entryOf(webhook: WebhookDefinition, verb: WebhookVerb, configOf: ClientConfigOf) {
  const { kind, name, rules, subresource } = webhook;
  const { namespaceSelector, objectSelector, matchConditions } = rules;
  return {
    name,
    clientConfig: configOf(verb, name),
    rules: [
      {
        apiGroups: [kind.group],
        apiVersions: [kind.version],
        resources: [subresource === '' ? kind.resource : `${kind.resource}/${subresource}`],
        operations: operationsOf(webhook, verb),
        scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      },
    ],
    admissionReviewVersions: ['v1'],
    sideEffects: rules.sideEffects ?? 'None',
    failurePolicy: rules.failurePolicy ?? 'Fail',
    matchPolicy: rules.matchPolicy ?? 'Equivalent',
    timeoutSeconds: rules.timeoutSeconds ?? 10,
    ...(namespaceSelector && { namespaceSelector }),
    ...(objectSelector && { objectSelector }),
    ...(matchConditions && { matchConditions }),
  };
}

/** There is nothing to fill in where an object is deleted. */
function operationsOf({ operations }: WebhookDefinition, verb: WebhookVerb): readonly string[] {
  return verb === 'mutate' ? operations.filter((operation) => operation !== 'DELETE') : operations;
}
