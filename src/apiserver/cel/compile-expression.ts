import type { CelType } from './cel-type.js';
import type { DeclaredType } from './cel-values.js';
import { TypeDeclarations } from './cel-values.js';
import type { CostBudget, ExpressionNode } from './cost.js';
import { COST_OF_ONE_CALL, CostExceeded, meter, meterExpression, nodesIn } from './cost.js';
import { kubernetesEnvironment } from './environment.js';
import { estimateCost } from './estimate/estimate-cost.js';
import type { DeclaredSizes } from './estimate/size.js';
import { registerObjectLiterals, withObjectLiterals } from './library/object-literals.js';
import { withOwnMacros } from './library/macros.js';
import { describeFailure, describeProblem, describeSyntax } from './problems.js';
import { syntaxProblemsOf } from './syntax-problems.js';

export interface CelDeclarations {
  /** The variables that the expression may use, by their names. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Whether it may make objects and patches: `Object{}`, `JSONPatch{}`. @default false */
  readonly hasLiterals?: boolean;
}

export type Compiled =
  | { readonly program: CelProgram; readonly problem?: undefined }
  /** In the words of cel-go, with the place. */
  | { readonly problem: string; readonly program?: undefined };

export interface CelProgram {
  readonly expression: string;
  /** `bool`, `string`, `dyn`, `list<string>`…: what the checker found that the expression gives. */
  readonly resultType: string;
  /** Whether the expression asks for the variable at all. */
  uses(variable: string): boolean;
  /** The units that an evaluation may cost at most, given how large each variable may be; Infinity where nothing bounds them. */
  estimateCost(sizes: DeclaredSizes): number;
  /**
   * Evaluates in the calling turn; what it costs is taken from the budget.
   * @param values JSON of the declared types; `undefined` where there is none
   */
  evaluate(values: Readonly<Record<string, unknown>>, budget: CostBudget): CelOutcome;
}

export type CelOutcome =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'error'; readonly message: string }
  /** The call or the budget of its caller is used up; nothing more should be evaluated. */
  | { readonly type: 'exceeded'; readonly message: string };

const MAX_LENGTH = 100_000;

/** Checks an expression against the types of its variables, once for all evaluations. */
export function compileExpression(
  expression: string,
  { hasLiterals = false, variables }: CelDeclarations,
): Compiled {
  if (expression.length > MAX_LENGTH)
    return { problem: `ERROR: <input>:-1:0: expression code point size exceeds limit: limit: ${MAX_LENGTH}` };
  const environment = kubernetesEnvironment();
  const declarations = new TypeDeclarations(environment, namesIn(expression));
  const declared = new Map<string, DeclaredType>();
  if (hasLiterals) registerObjectLiterals(environment);
  const text = hasLiterals ? withObjectLiterals(expression) : expression;
  try {
    for (const [name, type] of Object.entries(variables)) {
      const known = declarations.declare(type);
      declared.set(name, known);
      environment.registerVariable(name, known.name);
    }
    const parsed = environment.parse(withOwnMacros(text));
    const { valid, type, error } = parsed.check();
    if (!valid) return { problem: describeProblem(expression, error, declarations.shownNames) };
    const root = parsed.ast as unknown as ExpressionNode;
    const used = new Set(identifiersIn(root));
    meterExpression(root);
    const run = (values: Readonly<Record<string, unknown>>): unknown =>
      parsed(valuesOf(values, declared, used));
    return {
      program: {
        expression,
        resultType: type ?? 'dyn',
        uses: (variable) => used.has(variable),
        estimateCost: (sizes) => estimateCost(root, sizes),
        evaluate: (values, budget) => evaluate(() => run(values), budget),
      },
    };
  } catch (error) {
    const syntax = syntaxProblemsOf(text, error, (changed) => environment.parse(withOwnMacros(changed)));
    return {
      problem:
        syntax.length > 0
          ? describeSyntax(expression, syntax)
          : describeProblem(expression, error, declarations.shownNames),
    };
  }
}

/** All words of an expression: the fields that it asks for are among them. */
function namesIn(expression: string): ReadonlySet<string> {
  return new Set(expression.match(/[A-Za-z_]\w*/g));
}

function identifiersIn(node: ExpressionNode): string[] {
  if (node.op === 'id') return [node.args as string];
  return nodesIn(node.args).flatMap(identifiersIn);
}

function valuesOf(
  values: Readonly<Record<string, unknown>>,
  declared: ReadonlyMap<string, DeclaredType>,
  used: ReadonlySet<string>,
): Map<string, unknown> {
  const made = new Map<string, unknown>();
  for (const [name, type] of declared)
    if (used.has(name)) {
      const json = values[name];
      made.set(
        name,
        json === undefined && !type.name.startsWith('optional<') ? undefined : type.toValue(json),
      );
    }
  return made;
}

function evaluate(run: () => unknown, budget: CostBudget): CelOutcome {
  try {
    return { type: 'value', value: meter.run(Math.min(COST_OF_ONE_CALL, budget.remaining), run) };
  } catch (error) {
    if (error instanceof CostExceeded) return { type: 'exceeded', message: error.message };
    return { type: 'error', message: describeFailure(error) };
  } finally {
    budget.remaining -= meter.spent;
  }
}
