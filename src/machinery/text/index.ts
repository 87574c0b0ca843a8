export { counted } from './counted.js';
export { parseShortYaml } from './short-yaml.js';
export { withoutTrailing } from './without-trailing.js';
