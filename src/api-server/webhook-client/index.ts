export { ServiceAddresses } from './service-addresses.js';
export type { KnownServices } from './service-addresses.js';
export { WebhookCallError, WebhookClient } from './webhook-client.js';
export type { WebhookTarget } from './webhook-client.js';
