/**
 * Rollkeeper's admin port and console for controllers of your own: `import { adminPages } from 'rollkeeper/admin'`.
 * @packageDocumentation
 */
import '../../base/process/require-node.js';
import 'reflect-metadata';

export { adminPages } from './admin-pages.js';
export type { AdminPagesOptions } from './admin-pages.options.js';
