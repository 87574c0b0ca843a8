export { checkView, presentList, presentObject } from './present.js';
