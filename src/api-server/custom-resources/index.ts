export { CustomResources } from './custom-resources.js';
