export { ensureInitialObjects } from './ensure-initial-objects.js';
