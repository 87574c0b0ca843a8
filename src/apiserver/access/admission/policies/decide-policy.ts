import type { ValidatingAdmissionPolicy } from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { CelOutcome, CostBudget } from '../../../cel/index.js';
import { compileRequestExpression, compileVariables } from '../../../kinds/index.js';
import type { RequestExpression } from '../../../kinds/index.js';
import { compileSelection } from '../webhooks/webhook.js';
import type { Selection } from '../webhooks/webhook.js';
import { evaluateExpression, matchConditions } from '../request-expressions.js';
import type { RequestValues } from '../request-expressions.js';

export type Policy = ValidatingAdmissionPolicy & KubernetesObject;

interface Rule {
  readonly expression: RequestExpression;
  readonly message: string | undefined;
  readonly messageExpression: RequestExpression | undefined;
  readonly reason: string | undefined;
}

/** A compiled ValidatingAdmissionPolicy. */
export interface CompiledPolicy {
  readonly name: string;
  readonly paramKind: { readonly apiVersion?: string; readonly kind?: string } | undefined;
  readonly selection: Selection;
  readonly failsOpen: boolean;
  readonly conditions: readonly RequestExpression[];
  readonly variables: readonly { readonly name: string; readonly expression: RequestExpression }[];
  readonly rules: readonly Rule[];
  readonly audits: readonly { readonly key: string; readonly expression: RequestExpression }[];
}

/** An objection to a request. */
export interface Objection {
  readonly message: string;
  /** A reason of the API: `Invalid`, `Forbidden`, … */
  readonly reason: string;
  /** Denies the request regardless of the binding's actions. */
  readonly isFatal?: true;
}

/** A policy's result for a request. */
export interface Verdict {
  readonly objections: readonly Objection[];
  /** Annotations for an audit log, by the policy's keys. */
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
}

const NOTHING: Verdict = { objections: [], annotations: [] };

/** Bytes of a message that an expression may make. Source: MaxEvaluatedMessageExpressionSizeBytes in apiserver. */
const MAX_MESSAGE_BYTES = 5 * 1024;
/** The longest annotation for the audit log. Source: maxAuditAnnotationValueLength. */
const MAX_ANNOTATION_BYTES = 10 * 1024;
const DEFAULT_REASON = 'Invalid';

const compiled = new WeakMap<object, CompiledPolicy>();

export function compilePolicy(policy: Readonly<Policy>): CompiledPolicy {
  const known = compiled.get(policy) ?? compile(policy);
  compiled.set(policy, known);
  return known;
}

function compile({ metadata, spec = {} }: Readonly<Policy>): CompiledPolicy {
  const { all, type: variables } = compileVariables(spec.variables ?? []);
  const withAll = (text: string): RequestExpression => compileRequestExpression(text, { variables });
  const asMessage = (text: string): RequestExpression =>
    compileRequestExpression(text, { variables, hasAuthorizer: false });
  return {
    name: metadata.name,
    paramKind: spec.paramKind,
    selection: compileSelection(spec.matchConstraints ?? {}),
    failsOpen: spec.failurePolicy === 'Ignore',
    conditions: (spec.matchConditions ?? []).map(({ expression }) => compileRequestExpression(expression)),
    variables: all,
    rules: (spec.validations ?? []).map(({ expression, message, messageExpression, reason }) => ({
      expression: withAll(expression),
      message: message?.trim(),
      messageExpression: messageExpression ? asMessage(messageExpression) : undefined,
      reason,
    })),
    audits: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: withAll(valueExpression),
    })),
  };
}

/**
 * A policy's objections to a request, with one parameter object. Includes failures, unless the policy ignores them.
 * Source: validator.go in pkg/admission/plugin/policy/validating of apiserver.
 */
export function decidePolicy(policy: CompiledPolicy, values: RequestValues, budget: CostBudget): Verdict {
  const failure = (message: string): Objection[] =>
    policy.failsOpen ? [] : [{ message, reason: DEFAULT_REASON }];
  const match = matchConditions(policy.conditions, values, budget);
  if (match.isMatch === undefined) return { ...NOTHING, objections: failure(match.problem) };
  if (!match.isMatch) return NOTHING;
  const { failed, variables } = evaluateVariables(policy, values, budget);
  const all = { ...values, variables };
  const evaluate = (expression: RequestExpression): CelOutcome =>
    blamed(evaluateExpression(expression, all, budget), expression, failed);
  const objections = policy.rules.flatMap((rule) => {
    const outcome = evaluate(rule.expression);
    if (outcome.type !== 'value') return failure(outcome.message);
    if (outcome.value === true) return [];
    return [{ message: messageOf(rule, all, budget), reason: rule.reason ?? DEFAULT_REASON }];
  });
  const audited = policy.audits.map(({ key, expression }) => ({ key, ...audit(expression, evaluate) }));
  const problems = audited.flatMap(({ problem }) => (problem === undefined ? [] : failure(problem)));
  return {
    objections: [...objections, ...problems.map((problem) => ({ ...problem, isFatal: true as const }))],
    annotations: audited.flatMap(({ key, value }) => (value ? [{ key, value }] : [])),
  };
}

/** Null and empty texts are omitted; a value that is not a text is a failure. */
function audit(
  expression: RequestExpression,
  evaluate: (expression: RequestExpression) => CelOutcome,
): { readonly value?: string; readonly problem?: string } {
  const outcome = evaluate(expression);
  if (outcome.type !== 'value') return { problem: outcome.message };
  const { value } = outcome;
  if (value === null) return {};
  if (typeof value === 'string')
    return { value: Buffer.from(value.trim()).subarray(0, MAX_ANNOTATION_BYTES).toString() };
  return {
    problem: `valueExpression '${expression.text}' resulted in unsupported return type. Return type must be either string or null.`,
  };
}

/** A failed variable only matters where it is used. */
/** Evaluates the variables of a policy one after another, and notes which of them failed. */
export function evaluateVariables(
  policy: Pick<CompiledPolicy, 'variables'>,
  values: RequestValues,
  budget: CostBudget,
): {
  readonly variables: Record<string, unknown>;
  readonly failed: { readonly name: string; readonly problem: string }[];
} {
  const variables: Record<string, unknown> = {};
  const failed: { name: string; problem: string }[] = [];
  for (const { expression, name } of policy.variables) {
    const outcome = evaluateExpression(expression, { ...values, variables }, budget);
    if (outcome.type === 'value') variables[name] = outcome.value;
    else
      failed.push({
        name,
        problem: `composited variable ${JSON.stringify(name)} fails to evaluate: ${outcome.message}`,
      });
  }
  return { variables, failed };
}

/** A failure that is that of a variable says so. */
export function blamed(
  outcome: CelOutcome,
  expression: RequestExpression,
  failed: readonly { readonly name: string; readonly problem: string }[],
): CelOutcome {
  const cause = outcome.type === 'error' && failed.find(({ name }) => uses(expression, name));
  return cause ? { type: 'error', message: cause.problem } : outcome;
}

function uses({ text }: RequestExpression, variable: string): boolean {
  return new RegExp(`\\bvariables\\s*\\.\\s*${variable}\\b`).test(text);
}

function messageOf(rule: Rule, values: RequestValues, budget: CostBudget): string {
  const outcome = rule.messageExpression && evaluateExpression(rule.messageExpression, values, budget);
  const made = outcome?.type === 'value' && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  const isFit = made !== '' && !made.includes('\n') && Buffer.byteLength(made) <= MAX_MESSAGE_BYTES;
  return isFit ? made : rule.message || `failed expression: ${rule.expression.text.trim()}`;
}
