export { presentList, presentObject } from './present.js';
