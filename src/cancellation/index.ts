export { LinkedAbort } from './linked-abort.js';
