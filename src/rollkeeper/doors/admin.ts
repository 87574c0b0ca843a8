/**
 * Rollkeeper's admin port and console for controllers of your own: `import { adminPages } from 'rollkeeper/admin'`.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';
import 'reflect-metadata';

export { adminPages } from '../admin/pages/admin-pages.js';
export type { AdminPagesOptions } from '../admin/pages/admin-pages.options.js';
