export { ANY_VALUE, listOf, mapOf, objectOf, optionalOf } from './cel-type.js';
export type {
  CelField,
  CelListType,
  CelMapType,
  CelObjectType,
  CelOptionalType,
  CelType,
  CelValueType,
  SimpleType,
} from './cel-type.js';
export { compileExpression } from './compile-expression.js';
export type { CelDeclarations, CelOutcome, CelProgram, Compiled } from './compile-expression.js';
export { CostBudget } from './cost.js';
export type { DeclaredSizes } from './estimate/size.js';
export { AUTHORIZER_TYPE, AuthorizerValue } from './library/authority.js';
export { ObjectLiteral, PatchLiteral } from './library/object-literals.js';
export { literalMismatch, toJson } from './to-json.js';
export type { Authority, AuthorityDecision } from './library/authority.js';
export { QuantityValue } from './library/quantities.js';
export { SemverValue } from './library/semvers.js';
export { shownType } from './type-names.js';
