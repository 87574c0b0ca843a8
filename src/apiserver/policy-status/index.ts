export { PolicyStatus } from './policy-status.js';
