export { ensureApiEndpoints, ensureInitialObjects } from './ensure-initial-objects.js';
