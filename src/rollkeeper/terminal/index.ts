export { PLAIN, styleFor, withoutStyle } from './style.js';
export type { Style } from './style.js';
export { renderTable } from './table.js';
