export { decideExpiry, ttlAfterFinishedController } from './ttl-after-finished.js';
