import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ValidationRule as IValidationRule } from '@rollkeeper/machinery/types/apiextensions-v1';
import type { CelProgram, CelType } from '../../../cel/index.js';
import { compileExpression, optionalOf } from '../../../cel/index.js';

export type ValidationRule = Decoded<IValidationRule>;

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: CelProgram;
  readonly message?: CelProgram;
  readonly usesOldSelf: boolean;
}

/** Why a rule cannot be compiled, and in which of its fields. */
export interface RuleProblem {
  readonly field: 'rule' | 'messageExpression';
  readonly problem: string;
  /** The rule itself, if only its message cannot be compiled. */
  readonly compiled?: CompiledRule;
}

/**
 * Source: Compile in apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go.
 * @param self the type of the values that the rule judges
 */
export function compileRule(rule: ValidationRule, self: CelType): CompiledRule | RuleProblem {
  const variables = { self, oldSelf: rule.optionalOldSelf ? optionalOf(self) : self };
  const { program, problem } = compileExpression(rule.rule ?? '', { variables });
  if (problem !== undefined) return { field: 'rule', problem: `compilation failed: ${problem}` };
  if (program.resultType !== 'bool')
    return { field: 'rule', problem: 'cel expression must evaluate to a bool' };
  const compiled = { rule, program, usesOldSelf: program.uses('oldSelf') };
  if (!rule.messageExpression) return compiled;
  const message = compileExpression(rule.messageExpression, { variables });
  if (message.problem !== undefined)
    return {
      field: 'messageExpression',
      problem: `messageExpression compilation failed: ${message.problem}`,
      compiled,
    };
  if (message.program.resultType !== 'string')
    return { field: 'messageExpression', problem: 'messageExpression must evaluate to a string', compiled };
  return { ...compiled, message: message.program };
}

export function isRuleProblem(compiled: CompiledRule | RuleProblem): compiled is RuleProblem {
  return 'problem' in compiled;
}
