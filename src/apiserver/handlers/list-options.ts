import { badRequest, invalid } from '../errors/index.js';
import type { FieldError } from '../errors/index.js';

/** @throws StatusError 400 for anything but a decimal number; undefined when the parameter is absent or empty */
export function parseNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw badRequest(`${name}: Invalid value: ${JSON.stringify(text)}: must be a number not below 0`);
  }
  return value;
}

/**
 * Looks at what the parameters of a list say together, as apimachinery's `ValidateListOptions` does.
 * @throws StatusError 422
 */
export function checkListOptions(query: URLSearchParams): void {
  const problems = [...matchProblems(query)];
  if (query.has('sendInitialEvents'))
    problems.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (problems.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', problems);
}

function* matchProblems(query: URLSearchParams): Generator<FieldError> {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match === '') return;
  const field = 'resourceVersionMatch';
  if (!query.get('resourceVersion'))
    yield forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (query.get('continue'))
    yield forbidden(field, 'resourceVersionMatch is forbidden when continue is provided');
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`;
    yield { type: 'FieldValueNotSupported', field, message };
  }
  if (match === 'Exact' && query.get('resourceVersion') === '0')
    yield forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
}

function forbidden(field: string, problem: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: `Forbidden: ${problem}` };
}
