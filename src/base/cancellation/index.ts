export { abortable } from './abortable.js';
export { LinkedAbort } from './linked-abort.js';
