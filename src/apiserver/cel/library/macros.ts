import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError, Optional } from '@marcbachmann/cel-js';
import { PatternSyntaxError, linearPattern } from '../../schema/index.js';
import type { ExpressionNode } from './cost.js';
import { meter } from './cost.js';

/** The part of the library's interface for custom macros that is used here. */
interface Type {
  readonly kind: string;
  readonly name: string;
  readonly valueType?: Type;
}
interface Context {
  forkWithVariable(name: string, type: Type): BoundContext;
}
interface BoundContext extends Context {
  reuse(parent: Context): BoundContext;
  setIterValue(value: unknown, evaluator: Evaluator): Context;
}
interface Checker {
  check(node: ExpressionNode, context: Context): Type;
  createError(code: string, message: string, node: ExpressionNode): Error;
  getType(name: string): Type;
}
interface Evaluator {
  run(node: ExpressionNode, context: Context): unknown;
}
interface MacroCall<Args> {
  readonly ast: ExpressionNode;
  readonly args: Args;
  readonly receiver: ExpressionNode;
}

type One = readonly [ExpressionNode];
type Two = readonly [ExpressionNode, ExpressionNode];

/** Calls that look at the expressions they are given rather than at their values. */
export function registerMacros(environment: Environment): void {
  // The last of several macros of one name wins, for any receiver: this one replaces the library's function for texts,
  // whose patterns may backtrack.
  environment.registerFunction('list.matches(ast): bool', matches);
  environment.registerFunction(`${OWN_HAS}(ast): bool`, has);
  environment.registerFunction('optional.optMap(ast, ast): optional<dyn>', (call: MacroCall<Two>) =>
    mapOptional(call, 'optMap'),
  );
  environment.registerFunction('optional.optFlatMap(ast, ast): optional<dyn>', (call: MacroCall<Two>) =>
    mapOptional(call, 'optFlatMap'),
  );
}

/**
 * Replaces `has` in expressions passed to the library: its own does not know fields of list items or of results. Has
 * the same length, so that all positions stay the same.
 */
export const OWN_HAS = 'haS';
/** Texts and comments, in which nothing is called, or the word. */
const HAS_CALLS =
  /[rR][bB]?(?:'''[^]*?'''|"""[^]*?"""|'[^'\n]*'|"[^"\n]*")|'''[^]*?'''|"""[^]*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|(?<![\w.])has(?=\s*\()/g;

/** The expression as the library should read it. */
export function withOwnMacros(expression: string): string {
  return expression.replace(HAS_CALLS, (found) => (found === 'has' ? OWN_HAS : found));
}

function has({ ast, args: [field] }: Pick<MacroCall<One>, 'ast' | 'args'>): object {
  return {
    async: false,
    typeCheck(checker: Checker, _macro: unknown, context: Context): Type {
      if (field.op !== '.')
        throw checker.createError('invalid_macro_argument', 'invalid argument to has() macro', field);
      checker.check(field.args[0], context);
      try {
        checker.check(field, context);
      } catch (error) {
        // Messages place it at the call.
        throw Object.assign(error as Error, { call: ast });
      }
      return checker.getType('bool');
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context): boolean {
      if (field.op !== '.') throw new EvaluationError('no such overload');
      const [owner, name] = field.args;
      const found = evaluator.run(owner, context);
      return hasField(found instanceof Optional ? found.orValue(undefined) : found, name);
    },
  };
}

function hasField(owner: unknown, name: string): boolean {
  if (owner === undefined) return false;
  if (owner instanceof Map) return owner.get(name) !== undefined;
  if (!isJsonObject(owner)) throw new EvaluationError('no such overload');
  return name in owner && owner[name] !== undefined;
}

function matches({ ast, args: [pattern], receiver }: MacroCall<One>): object {
  return {
    async: false,
    typeCheck(checker: Checker, _macro: unknown, context: Context): Type {
      const types = [receiver, pattern].map((node) => checker.check(node, context));
      if (types.some(({ kind, name }) => kind !== 'dyn' && name !== 'string')) {
        const [text, given] = types.map(({ name }) => name);
        throw checker.createError(
          'no_matching_overload',
          `found no matching overload for '${text}.matches(${given})'`,
          ast,
        );
      }
      if (pattern.op === 'value' && typeof pattern.args === 'string')
        checkPattern(pattern.args, checker, pattern);
      return checker.getType('bool');
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context): boolean {
      return matchesPattern(evaluator.run(receiver, context), evaluator.run(pattern, context));
    },
  };
}

function checkPattern(source: string, checker: Checker, node: ExpressionNode): void {
  try {
    linearPattern(source);
  } catch (error) {
    if (!(error instanceof PatternSyntaxError)) throw error;
    throw checker.createError('invalid_pattern', 'invalid matches argument', node);
  }
}

/** Matching costs the text times the pattern. Source: the cost of `matches` in cel-go/checker/cost.go. */
export function matchesPattern(text: unknown, source: unknown): boolean {
  if (typeof text !== 'string' || typeof source !== 'string') throw new EvaluationError('no such overload');
  meter.charge((1 + text.length / 10) * (1 + source.length / 4));
  return readPattern(source).test(text);
}

/** @throws EvaluationError, which an expression may catch */
export function readPattern(source: string): ReturnType<typeof linearPattern> {
  try {
    return linearPattern(source);
  } catch (error) {
    if (!(error instanceof PatternSyntaxError)) throw error;
    throw new EvaluationError(error.message);
  }
}

function mapOptional({ args, receiver, ast }: MacroCall<Two>, name: 'optMap' | 'optFlatMap'): object {
  const [variable, expression] = args;
  let bound: BoundContext;
  return {
    async: false,
    typeCheck(checker: Checker, _macro: unknown, context: Context): Type {
      const type = checker.check(receiver, context);
      if (type.kind !== 'optional' && type.kind !== 'dyn')
        throw checker.createError(
          'no_matching_overload',
          `found no matching overload for '${type.name}.${name}'`,
          ast,
        );
      if (variable.op !== 'id')
        throw checker.createError('invalid_macro_argument', `${name}() variable must be a name`, variable);
      bound = context.forkWithVariable(variable.args, type.valueType ?? checker.getType('dyn'));
      const result = checker.check(expression, bound);
      if (name === 'optMap') return checker.getType(`optional<${result.name}>`);
      if (result.kind === 'optional' || result.kind === 'dyn') return result;
      throw checker.createError('no_matching_overload', 'optFlatMap() must give an optional', expression);
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context): unknown {
      const optional = evaluator.run(receiver, context);
      if (!(optional instanceof Optional)) throw new EvaluationError('no such overload');
      if (!optional.hasValue()) return optional;
      const inner = bound.reuse(context).setIterValue(optional.value(), evaluator);
      const result = evaluator.run(expression, inner);
      return name === 'optMap' ? Optional.of(result) : result;
    },
  };
}
