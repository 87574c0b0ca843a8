export { readTopFromApi, readTopFromReplica } from './read-top.js';
export { linesOfChange, renderTop } from './render-top.js';
export { TOP_STATES } from './top-view.js';
export type { TopView } from './top-view.js';
