/**
 * Admission and conversion webhooks of an operator. Start at {@link defineWebhook} and {@link webhookServer}.
 * @packageDocumentation
 */
export { defineWebhook, spoke } from './define-webhook.js';
export type {
  AdmissionOperation,
  AdmissionRequest,
  Convert,
  FieldProblem,
  RefusedWith,
  RequestUser,
  Spoke,
  Verdict,
  WebhookDefinition,
  WebhookHandlers,
  WebhookRules,
  WebhookSpec,
} from './define-webhook.js';
export { convertObject } from './convert-objects.js';
export { webhookServer } from './webhook-server.js';
export type { WebhookServer } from './webhook-server.js';
export type {
  WebhookAddress,
  WebhookCertificateFiles,
  WebhookServerOptions,
} from './webhook-server.options.js';
export { serveWebhooks } from './serve-webhooks.js';
export type { ServedWebhooks, ServeWebhooksOptions } from './serve-webhooks.js';
