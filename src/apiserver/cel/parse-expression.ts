import { errorMessage } from '@rollkeeper/machinery/errors';
import { kubernetesEnvironment } from './environment.js';
import type { ExpressionNode } from './library/cost.js';
import { syntaxProblems } from './syntax/check-syntax.js';

type Parsed =
  | { readonly root: ExpressionNode; readonly problem?: undefined }
  /** The first problem, in the words of cel-go, without its place. */
  | { readonly problem: string; readonly root?: undefined };

/** Parses an expression that is only looked at, and never evaluated: no types are checked, and there are no macros. */
export function parseExpression(expression: string): Parsed {
  const [first] = syntaxProblems(expression);
  if (first) return { problem: first.message };
  try {
    return { root: kubernetesEnvironment().parse(expression).ast };
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}
