export { ADMISSION_REVIEW, CONVERSION_REVIEW, withReviews } from './review-schemas.js';
export { ServiceAddresses } from './service-addresses.js';
export { WebhookCallError, WebhookClient } from './webhook-client.js';
export type { WebhookCaller, WebhookTarget } from './webhook-client.js';
