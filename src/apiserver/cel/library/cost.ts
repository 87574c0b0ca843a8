import type { ASTNode } from '@marcbachmann/cel-js';

/**
 * The cost that expressions may still have. One unit is the evaluation of one node, or the reading of one item or of
 * ten characters: about the unit of the genuine server's limits, so that the same numbers bound about the same work.
 */
export class CostBudget {
  constructor(public remaining: number) {}
}

/**
 * The limit of the cost of one evaluation of one expression. Source: PerCallLimit in
 * k8s.io/apiserver/pkg/apis/cel/config.go.
 */
export const COST_OF_ONE_CALL = 1_000_000;

/** Thrown through an evaluation that has become too expensive. One for all: it says nothing of where. */
export class CostExceeded extends Error {}

const EXCEEDED = new CostExceeded('operation cancelled: actual cost limit exceeded');
const UNITS_OF_AN_ERROR = 200;
const CHARACTERS_OF_A_UNIT = 10;

/** Counts what the evaluation under way costs. Evaluations are synchronous and never nested, so there is one. */
class Meter {
  private left = Number.POSITIVE_INFINITY;
  /** The cost of the evaluation before, failed or not. */
  spent = 0;

  /** @throws CostExceeded even where the expression caught it on its way */
  run<T>(limit: number, evaluate: () => T): T {
    this.left = limit;
    try {
      const result = evaluate();
      this.charge(0);
      return result;
    } catch (error) {
      throw this.left < 0 ? EXCEEDED : error;
    } finally {
      this.spent = limit - this.left;
      this.left = Number.POSITIVE_INFINITY;
    }
  }

  charge(units: number): void {
    this.left -= units;
    if (this.left < 0) throw EXCEEDED;
  }

  /** Reads a value as far as the budget goes. */
  chargeReading(value: unknown): void {
    if (typeof value === 'string') this.charge(value.length / CHARACTERS_OF_A_UNIT);
    else if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
      this.charge(Array.isArray(value) ? value.length : value.size);
      for (const item of value.values()) if (isLarge(item)) this.chargeReading(item);
    } else if (hasJson(value)) this.chargeJson(value.json);
  }

  private chargeJson(json: unknown): void {
    if (typeof json === 'string') this.charge(json.length / CHARACTERS_OF_A_UNIT);
    else if (typeof json === 'object' && json !== null) {
      const parts: unknown[] = Array.isArray(json) ? json : Object.values(json);
      this.charge(parts.length);
      for (const part of parts) if (isLarge(part)) this.chargeJson(part);
    }
  }
}

export const meter = new Meter();

function isLarge(value: unknown): boolean {
  return typeof value === 'string' ? value.length > CHARACTERS_OF_A_UNIT : typeof value === 'object';
}

function hasJson(value: unknown): value is { readonly json: unknown } {
  return typeof value === 'object' && value !== null && 'json' in value;
}

/** A node of a parsed expression. Checking it says what its type is. */
export type ExpressionNode = ASTNode & { readonly checkedType?: CheckedType };

export interface CheckedType {
  readonly kind: string;
  readonly name: string;
  readonly valueType?: CheckedType;
}

/** A node with the method that evaluates it, which the library's types leave out. */
type EvaluatedNode = ExpressionNode & { evaluate: Evaluate };

type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;

/** Their work grows with what they are given; that of the others does not. */
const READING_OPERATORS = new Set(['==', '!=', 'in', '+', '<', '<=', '>', '>=', 'call', 'rcall']);
const CONSTANT_FUNCTIONS = new Set([
  'size', 'type', 'dyn', 'hasValue', 'value', 'or', 'orValue', 'of', 'none', 'startsWith', 'endsWith',
  'all', 'exists', 'exists_one', 'map', 'filter', 'optMap', 'optFlatMap', 'bind', 'has',
]); // prettier-ignore

/** Makes every node of an expression count. The library has no limits of its own on what an evaluation costs. */
export function meterExpression(node: EvaluatedNode, isRead = false): void {
  const children = nodesIn(node.args);
  const name = node.op === 'call' || node.op === 'rcall' ? node.args[0] : '';
  const readsChildren = READING_OPERATORS.has(node.op) && !CONSTANT_FUNCTIONS.has(name);
  for (const child of children) meterExpression(child, readsChildren);
  let inner = node.evaluate;
  const metered: Evaluate = function (evaluator, _node, context) {
    meter.charge(1);
    let value: unknown;
    try {
      value = inner.call(node, evaluator, node, context);
    } catch (error) {
      if (!(error instanceof CostExceeded)) meter.charge(UNITS_OF_AN_ERROR);
      throw error;
    }
    if (isRead) meter.chargeReading(value);
    return value;
  };
  // A node replaces its own method by the one it settles on when it first runs.
  Object.defineProperty(node, 'evaluate', {
    get: () => metered,
    set: (settled: Evaluate) => (inner = settled),
  });
}

/** The child nodes, at any position in the arguments of a node; of a node, itself. */
export function nodesIn(args: unknown): EvaluatedNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is EvaluatedNode {
  return (
    typeof value === 'object' && value !== null && 'op' in value && 'evaluate' in value && 'args' in value
  );
}
