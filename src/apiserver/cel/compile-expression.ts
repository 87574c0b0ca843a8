import type { CelType } from './cel-type.js';
import type { DeclaredType } from './cel-values.js';
import { TypeDeclarations } from './cel-values.js';
import type { CostBudget, ExpressionNode } from './library/cost.js';
import { COST_OF_ONE_CALL, CostExceeded, meter, meterExpression, nodesIn } from './library/cost.js';
import { kubernetesEnvironment } from './environment.js';
import { estimateCost } from './estimate/estimate-cost.js';
import type { DeclaredSizes } from './estimate/size.js';
import { registerObjectLiterals, withObjectLiterals } from './library/object-literals.js';
import { withOwnMacros } from './library/macros.js';
import { describeFailure, mistakeIn, placedProblem } from './problems.js';
import type { PlacedMistake } from './problems.js';
import { syntaxProblems } from './syntax/check-syntax.js';
import { withoutRepeatedSigns } from './syntax/repeated-signs.js';
import type { Environment } from '@marcbachmann/cel-js';

type Parsed = ReturnType<Environment['parse']>;

/** A node, with what the checker found of it. */
interface CheckedNode {
  checkedType?: unknown;
}

/** More of them are not looked for. */
const MAX_MISTAKES = 100;

/**
 * Checks the types of an expression to its end. The library stops at the first mistake; cel-go takes the wrong part for one of any
 * type and goes on. So the part is declared to be that, and the rest is checked: what has been checked is not checked again.
 * @returns the mistakes in the order of the text, and the type if there are none
 */
function typeMistakes(
  parsed: Parsed,
  environment: Environment,
  describe: (error: unknown) => PlacedMistake,
): { readonly mistakes: readonly PlacedMistake[]; readonly type: string | undefined } {
  const mistakes: PlacedMistake[] = [];
  let anyType: unknown;
  for (;;) {
    const { error, type, valid } = parsed.check();
    if (valid) return { mistakes: inOrder(mistakes), type };
    mistakes.push(describe(error));
    const node = (error as { readonly node?: CheckedNode } | undefined)?.node;
    anyType ??= typeOfAny(environment);
    if (!node || node.checkedType !== undefined || anyType === undefined || mistakes.length >= MAX_MISTAKES)
      return { mistakes: inOrder(mistakes), type: undefined };
    node.checkedType = anyType;
  }
}

function typeOfAny(environment: Environment): unknown {
  const parsed = environment.parse('dyn(1)');
  parsed.check();
  return (parsed.ast as unknown as CheckedNode).checkedType;
}

function inOrder(mistakes: readonly PlacedMistake[]): readonly PlacedMistake[] {
  return [...mistakes].sort((a, b) => (a.at ?? -1) - (b.at ?? -1));
}

interface CelDeclarations {
  /** The variables that the expression may use, by their names. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Whether it may make objects and patches: `Object{}`, `JSONPatch{}`. @default false */
  readonly hasLiterals?: boolean;
}

type Compiled =
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
const MAX_SHOWN = 100;
/** Each problem repeats its line. */
const MAX_SHOWN_LENGTH = 55_000;

/** Checks an expression against the types of its variables, once for all evaluations. */
export function compileExpression(
  expression: string,
  { hasLiterals = false, variables }: CelDeclarations,
): Compiled {
  const problem = sizeProblem(expression) ?? syntaxProblem(expression);
  if (problem !== undefined) return { problem };
  const environment = kubernetesEnvironment();
  const declarations = new TypeDeclarations(environment, namesIn(expression));
  const declared = new Map<string, DeclaredType>();
  if (hasLiterals) registerObjectLiterals(environment);
  const plain = withoutRepeatedSigns(expression);
  const text = hasLiterals ? withObjectLiterals(plain) : plain;
  const isFunction = (name: string): boolean =>
    environment.getDefinitions().functions.some((known) => known.name === name);
  const describe = (error: unknown): PlacedMistake =>
    mistakeIn(expression, error, declarations.shownNames, isFunction);
  try {
    for (const [name, type] of Object.entries(variables)) {
      const known = declarations.declare(type);
      declared.set(name, known);
      environment.registerVariable(name, known.name);
    }
    const parsed = environment.parse(withOwnMacros(text));
    flattenChains(parsed.ast);
    const { mistakes, type } = typeMistakes(parsed, environment, describe);
    if (mistakes.length > 0) return { problem: shownProblems(expression, mistakes) };
    const root = parsed.ast;
    const used = new Set(identifiersIn(root));
    for (const node of nodesIn(root)) meterExpression(node);
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
    return { problem: shownProblems(expression, [describe(error)]) };
  }
}

function sizeProblem(expression: string): string | undefined {
  const size = expression.length > MAX_LENGTH ? [...expression].length : 0;
  if (size <= MAX_LENGTH) return undefined;
  const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_LENGTH}`;
  return placedProblem(expression, undefined, message);
}

function syntaxProblem(expression: string): string | undefined {
  const problems = syntaxProblems(expression);
  return problems.length === 0 ? undefined : shownProblems(expression, problems);
}

function shownProblems(expression: string, problems: readonly PlacedMistake[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const { at, message } of problems) {
    if (shown.length === MAX_SHOWN || length >= MAX_SHOWN_LENGTH) break;
    const text = placedProblem(expression, at, message);
    shown.push(text);
    length += text.length;
  }
  const more = problems.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more errors were truncated`] : [])].join('\n');
}

/** All words of an expression: the fields that it asks for are among them. */
function namesIn(expression: string): ReadonlySet<string> {
  return new Set(expression.match(/[A-Za-z_]\w*/g));
}

function identifiersIn(node: ExpressionNode): string[] {
  if (node.op === 'id') return [node.args];
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

/**
 * Balances what is linked by `&&` or `||`: a chain of thousands would be a tree as deep as it is long. Each root stays the same node.
 * All other operators are nested at most as deeply as the syntax allows.
 */
function flattenChains(node: ExpressionNode): void {
  if (node.op !== '&&' && node.op !== '||') {
    for (const child of nodesIn(node.args)) flattenChains(child);
    return;
  }
  const links: Chain[] = [];
  const operands = operandsOf(node, links);
  for (const operand of operands) flattenChains(operand);
  link(operands, links);
}

type Chain = Extract<ExpressionNode, { readonly op: '&&' | '||' }>;

/** Returns the operands of a chain, from left to right, and collects its links from the root on. */
function operandsOf(root: Chain, links: Chain[]): ExpressionNode[] {
  const operands: ExpressionNode[] = [];
  let node: ExpressionNode = root;
  while ((node.op === '&&' || node.op === '||') && node.op === root.op) {
    links.push(node);
    const [left, right]: readonly [ExpressionNode, ExpressionNode] = node.args;
    operands.push(right);
    node = left;
  }
  return [...operands, node].reverse();
}

function link(operands: readonly ExpressionNode[], links: Chain[]): ExpressionNode {
  const [first] = operands;
  if (operands.length === 1) return first!;
  const middle = Math.ceil(operands.length / 2);
  return Object.assign(links.shift()!, {
    args: [link(operands.slice(0, middle), links), link(operands.slice(middle), links)],
  });
}
