export { EventExpiry } from './event-expiry.js';
export type { EventExpiryOptions } from './event-expiry.js';
