import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import type { Kind, KubernetesObject } from '@rollkeeper/runtime';
import type { WebhookDefinition, WebhookHandlers, WebhookSpec } from '@rollkeeper/webhooks';
import { defineWebhook } from '@rollkeeper/webhooks';
import { storedBy } from './stored-metadata.js';

const METADATA = Symbol('rollkeeper:webhook');

/** The options of {@link Webhook}: all of `defineWebhook` but the handlers, which are methods of the class. */
export type WebhookOptions<T extends KubernetesObject> = Omit<WebhookSpec<T>, keyof WebhookHandlers<T>>;

interface Declared {
  readonly kind: Kind;
  readonly options: WebhookOptions<KubernetesObject>;
}

/**
 * Makes an injectable class a webhook of a kind: its methods are `default` and `validate`. It is served once it is a provider, of
 * `RollkeeperModule.forFeature` for example, and `RollkeeperModule.forRoot` has a `webhookServer`.
 * @example
 * ```ts
 * @Webhook(Website)
 * export class WebsiteWebhook implements WebhookHandlers<Website> {
 *   constructor(private readonly dns: Dns) {}
 *   async validate({ spec }: Website) { … }
 * }
 * ```
 */
export function Webhook<T extends KubernetesObject>(kind: Kind<T>, options: WebhookOptions<T> = {}) {
  return <Target extends abstract new (...args: never[]) => WebhookHandlers<T>>(target: Target): void => {
    Injectable()(target);
    Reflect.defineMetadata(METADATA, { kind, options }, target);
  };
}

/** The webhook that a provider is, if its class is decorated. @throws InvalidOptionError naming the option */
export function webhookOfProvider(instance: unknown): WebhookDefinition | undefined {
  if (typeof instance !== 'object' || instance === null) return undefined;
  const declared = storedBy<Declared>(METADATA, instance.constructor);
  if (!declared) return undefined;
  const handlers: WebhookHandlers<KubernetesObject> = instance;
  return defineWebhook<KubernetesObject>(declared.kind, {
    ...declared.options,
    // Called as methods, which they are.
    ...(handlers.default && { default: (object, request) => handlers.default?.(object, request) }),
    ...(handlers.validate && { validate: (object, request) => handlers.validate?.(object, request) }),
  });
}
