import { compileExpression, CostBudget, objectOf } from '../../cel/index.js';
import type { CelOutcome, CelProgram, CelType } from '../../cel/index.js';

/** What an expression may ask about; JSON, `null` for what there is not. */
export interface RequestValues {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  readonly params?: unknown;
  readonly namespaceObject?: unknown;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** What all expressions about one request may cost together. Source: RuntimeCELCostBudget in apiserver. */
const COST_OF_ALL = 10_000_000;

export function requestBudget(): CostBudget {
  return new CostBudget(COST_OF_ALL);
}

/** An expression about a request, or why it is none. */
export interface RequestExpression {
  readonly text: string;
  readonly program?: CelProgram;
  readonly problem?: string;
}

/** @param variables names that are known before */
export function compileRequestExpression(text: string, variables: readonly string[] = []): RequestExpression {
  const fields = Object.fromEntries(variables.map((name): [string, CelType] => [name, 'dyn']));
  const { problem, program } = compileExpression(text, {
    variables: {
      object: 'dyn',
      oldObject: 'dyn',
      request: 'dyn',
      params: 'dyn',
      namespaceObject: 'dyn',
      variables: objectOf('variables', fields),
    },
  });
  return program ? { text, program } : { text, problem };
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

export type Match = { readonly isMatch: boolean } | { readonly isMatch: undefined; readonly problem: string };

/** All must hold. One that does not hold decides, even when others fail. */
export function matchConditions(
  conditions: readonly RequestExpression[],
  values: () => RequestValues,
  budget: CostBudget,
): Match {
  if (conditions.length === 0) return { isMatch: true };
  const known = values();
  const outcomes = conditions.map((condition) => evaluateExpression(condition, known, budget));
  if (outcomes.some((outcome) => outcome.type === 'value' && outcome.value !== true))
    return { isMatch: false };
  const failed = outcomes.find((outcome) => outcome.type !== 'value');
  return failed ? { isMatch: undefined, problem: failed.message } : { isMatch: true };
}

/** What an expression gave, as JSON that another one may ask about. */
export function toJson(value: unknown): unknown {
  if (value instanceof Map)
    return Object.fromEntries(
      [...value].map(([key, item]): [string, unknown] => [String(key), toJson(item)]),
    );
  if (value instanceof Set || Array.isArray(value)) return [...value].map(toJson);
  if (value instanceof Date) return value.toISOString();
  return value;
}
