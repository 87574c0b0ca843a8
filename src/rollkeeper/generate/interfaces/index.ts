export { interfaceKinds } from './interface-kinds.js';
