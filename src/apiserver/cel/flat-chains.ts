import type { ExpressionNode } from './library/cost.js';
import { nodesIn } from './library/cost.js';

/**
 * Balances what is linked by `&&` or `||`: a chain of thousands would be a tree as deep as it is long. Each root stays the same node.
 * All other operators are nested at most as deeply as the syntax allows.
 */
export function flattenChains(node: ExpressionNode): void {
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
