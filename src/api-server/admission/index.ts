export { NamespaceLifecycle } from './namespace-lifecycle.js';
