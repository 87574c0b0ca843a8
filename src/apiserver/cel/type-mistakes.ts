import type { Environment } from '@marcbachmann/cel-js';
import type { PlacedMistake } from './problems.js';

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
export function typeMistakes(
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
