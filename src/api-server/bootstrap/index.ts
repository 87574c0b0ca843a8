export { ensureInitialNamespaces } from './ensure-namespaces.js';
