import { CostBudget } from '../../cel/index.js';
import type { AuthorizerValue, CelOutcome } from '../../cel/index.js';
import type { RequestExpression } from '../../kinds/index.js';

/** The variables of an expression; JSON, `null` for missing ones. */
export interface RequestValues {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  readonly params?: unknown;
  readonly namespaceObject?: unknown;
  /** The results of expressions, unchanged. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The authorizer for the request's user. */
  readonly authorizer: AuthorizerValue;
}

/** Cost budget of all expressions for one request. Source: RuntimeCELCostBudget in apiserver. */
const COST_OF_ALL = 10_000_000;

export function requestBudget(): CostBudget {
  return new CostBudget(COST_OF_ALL);
}

export function evaluateExpression(
  { problem = '', program, text }: RequestExpression,
  values: RequestValues,
  budget: CostBudget,
): CelOutcome {
  if (!program) return { type: 'error', message: `compilation error: ${problem}` };
  const { namespaceObject = null, params = null, variables = {} } = values;
  const outcome = program.evaluate({ ...values, namespaceObject, params, variables }, budget);
  if (outcome.type === 'error')
    return { ...outcome, message: `expression '${text}' resulted in error: ${outcome.message}` };
  if (outcome.type === 'exceeded')
    return {
      ...outcome,
      message: 'validation failed due to running out of cost budget, no further validation rules will be run',
    };
  return outcome;
}

type Match = { readonly isMatch: boolean } | { readonly isMatch: undefined; readonly problem: string };

/** All must be true. A false one decides, even if others fail. */
export function matchConditions(
  conditions: readonly RequestExpression[],
  values: RequestValues,
  budget: CostBudget,
): Match {
  if (conditions.length === 0) return { isMatch: true };
  const outcomes = conditions.map((condition) => evaluateExpression(condition, values, budget));
  if (outcomes.some((outcome) => outcome.type === 'value' && outcome.value !== true))
    return { isMatch: false };
  const failed = outcomes.find((outcome) => outcome.type !== 'value');
  return failed ? { isMatch: undefined, problem: failed.message } : { isMatch: true };
}
