/** A node of a parsed expression, as far as messages need it. */
export interface PlacedNode {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly checkedType?: { readonly name: string };
}

interface Spanned extends PlacedNode {
  readonly end: number;
}

const INFIX = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%', '&&', '||']);
const OPENING: Readonly<Record<string, string>> = { '[]': '[', '[?]': '[', '.': '.', '.?': '.', '?:': '?' };

/** Where cel-go places a node: at its operator, point or opening bracket, or where it begins. */
export function placeOf(node: PlacedNode, expression: string): number {
  const { op, args, start } = node;
  const after = (from: number, text: string): number => {
    const at = expression.indexOf(text, from);
    return at < 0 ? start : at;
  };
  if (op === 'call') return after(start, '(');
  if (op === 'rcall') return after((args as [string, Spanned])[1].end, '(');
  const sought = INFIX.has(op) ? op : OPENING[op];
  return sought === undefined ? start : after((args as [Spanned])[0].end, sought);
}

/** The type that a node was found to have; undefined before it was checked. */
export function typeNameOf(node: unknown): string | undefined {
  return (node as PlacedNode | undefined)?.checkedType?.name;
}
