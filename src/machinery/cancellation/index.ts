export { abortable, aborted, isAborted, onAbort, untilAborted } from './abortable.js';
export { LinkedAbort } from './linked-abort.js';
