export { writeOperator } from './write-operator.js';
export type { NewOperator } from './write-operator.js';
