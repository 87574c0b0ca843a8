import type { ExpressionNode } from './cost.js';
import { nodesIn } from './cost.js';

const INFIX = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%', '&&', '||']);
const OPENING: Readonly<Record<string, string>> = { '[]': '[', '[?]': '[', '.': '.', '.?': '.', '?:': '?' };

/** Returns the place that cel-go gives a node: its operator, point or opening bracket, or its beginning. */
export function placeOf(node: ExpressionNode, expression: string): number {
  const { op, start } = node;
  const after = (from: number, text: string): number => {
    const at = expression.indexOf(text, from);
    return at < 0 ? start : at;
  };
  if (op === 'call') return after(start, '(');
  if (node.op === 'rcall') return after(node.args[1].end, '(');
  const sought = INFIX.has(op) ? op : OPENING[op];
  const [first] = nodesIn(node.args);
  return sought === undefined || !first ? start : after(first.end, sought);
}

/** The type that a node was found to have; undefined before it was checked. */
export function typeNameOf({ checkedType }: ExpressionNode): string | undefined {
  return checkedType?.name;
}
