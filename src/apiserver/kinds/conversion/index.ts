export { VersionConverter } from './version-converter.js';
