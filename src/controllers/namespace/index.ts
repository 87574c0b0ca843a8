export { namespaceController } from './namespace-definition.js';
