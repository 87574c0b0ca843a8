export { ObjectiveLog } from './objective-log.js';
export { OBJECTIVES } from './objectives.js';
export type { Quantity, Samples } from './objectives.js';
export { reportObjectives } from './report-objectives.js';
export type { ObjectiveReport } from './report-objectives.js';
