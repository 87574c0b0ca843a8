export { abortable, aborted } from './abortable.js';
export { LinkedAbort } from './linked-abort.js';
