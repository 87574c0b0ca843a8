export { PLAIN, styleFor } from './style.js';
export type { Style } from './style.js';
export { renderTable } from './table.js';
export { PipeView, TerminalView, keepShowing, viewFor } from './redraw.js';
export type { View } from './redraw.js';
