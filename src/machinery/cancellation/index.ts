export { abortable, aborted, isAborted, onAbort, reasonOf, untilAborted } from './abortable.js';
export { LinkedAbort } from './linked-abort.js';
