export { modelOf } from './command-model.js';
export type { ArgumentModel, CommandModel, OptionModel } from './command-model.js';
export { complete } from './complete.js';
export type { ReadNames } from './complete.js';
export type { AskedNames, Completion } from './decide-completion.js';
export { COMPLETION_SCRIPTS, SHELLS } from './shell-scripts.js';
export type { Shell } from './shell-scripts.js';
