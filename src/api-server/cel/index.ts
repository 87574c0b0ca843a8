export { listOf, mapOf, objectOf, optionalOf } from './cel-type.js';
export type {
  CelField,
  CelListType,
  CelMapType,
  CelObjectType,
  CelOptionalType,
  CelType,
  SimpleType,
} from './cel-type.js';
export { compileExpression } from './compile-expression.js';
export type { CelDeclarations, CelOutcome, CelProgram, Compiled } from './compile-expression.js';
export { CostBudget } from './cost.js';
