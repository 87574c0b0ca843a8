export { ACT_BODIES, ACT_VERBS, typeOfAct } from './act.js';
export type { Act, ActNote, ActVerb } from './act.js';
export { noteAct } from './note-act.js';
export { prepareAct } from './prepare-act.js';
export type { ActChange } from './prepare-act.js';
