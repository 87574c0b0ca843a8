export { abortable, aborted, onAbort, untilAborted } from './abortable.js';
export { LinkedAbort } from './linked-abort.js';
