import type { ExpressionNode } from './cost.js';
import { nodesIn } from './cost.js';

/**
 * Balances what is linked by `&&` or `||`: a chain of thousands would be a tree as deep as it is long. Each root stays the same node.
 * All other operators are nested at most as deeply as the syntax allows.
 */
export function flattenChains(node: ExpressionNode): void {
  if (node.op !== '&&' && node.op !== '||') {
    for (const child of nodesIn(node.args)) flattenChains(child);
    return;
  }
  const links: ExpressionNode[] = [];
  const operands = operandsOf(node, links);
  for (const operand of operands) flattenChains(operand);
  link(operands, links);
}

/** What a chain links, from left to right, and its links from the root on. */
function operandsOf(root: ExpressionNode, links: ExpressionNode[]): ExpressionNode[] {
  const operands: ExpressionNode[] = [];
  let node = root;
  while (node.op === root.op) {
    links.push(node);
    const [left, right] = node.args as [ExpressionNode, ExpressionNode];
    operands.push(right);
    node = left;
  }
  return [...operands, node].reverse();
}

function link(operands: readonly ExpressionNode[], links: ExpressionNode[]): ExpressionNode {
  const [first] = operands;
  if (operands.length === 1) return first!;
  const node = links.shift()! as { args: unknown } & ExpressionNode;
  const middle = Math.ceil(operands.length / 2);
  node.args = [link(operands.slice(0, middle), links), link(operands.slice(middle), links)];
  return node;
}
