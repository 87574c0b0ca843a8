import { goQuote, isPrintable } from '@rollkeeper/machinery/kubernetes';
import { invalid } from '../../schema/errors/index.js';
import type { FieldError, StatusError } from '../../schema/errors/index.js';
import type { FieldValidation } from './field-validation.js';

/** A group of the options of requests: `CreateOptions`, `ListOptions`. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): StatusError {
  return invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** Validates `dryRun`, from any place in a request. */
export function dryRunProblems(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === 'All')) return [];
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  return [{ type: 'FieldValueNotSupported', field: 'dryRun', message }];
}

const MAX_MANAGER_BYTES = 128;

/** The name of the owner of what is written. It may be empty: then the client's own name counts. */
function managerProblems(name: string): FieldError[] {
  const field = 'fieldManager';
  const problems: FieldError[] = [];
  if (Buffer.byteLength(name) > MAX_MANAGER_BYTES)
    problems.push({
      type: 'FieldValueTooLong',
      field,
      message: `Too long: may not be more than ${MAX_MANAGER_BYTES} bytes`,
    });
  let position = 0;
  for (const char of name) {
    if (!isPrintable(char))
      problems.push({
        type: 'FieldValueInvalid',
        field,
        message: `Invalid value: ${goQuote(name)}: invalid character ${codePoint(char)} (at position ${position})`,
      });
    position += Buffer.byteLength(char);
  }
  return problems;
}

function codePoint(char: string): string {
  return `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** For an integer in a query, in Go's words; an empty one is absent. */
export function notAnInteger(text: string): string {
  return `strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`;
}

/** A request that writes. */
interface WritingRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
}

const OPTIONS: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

/**
 * Looks at how a request wants something written. Source: ValidateCreateOptions, ValidateUpdateOptions and
 * ValidatePatchOptions in apimachinery.
 * @returns what it wants done about unknown and duplicate fields
 * @throws StatusError 422
 */
export function checkWriteOptions(request: WritingRequest): FieldValidation {
  const { method, query } = request;
  if (query.size === 0 && method !== 'PATCH') return 'Warn';
  const level = query.get('fieldValidation') || 'Warn';
  const problems = [
    ...(method === 'PATCH' ? applyProblems(request) : []),
    ...managerProblems(query.get('fieldManager') ?? ''),
    ...dryRunProblems(query.getAll('dryRun').filter((value) => value !== '')),
    ...(isLevel(level) ? [] : [unknownLevel(level)]),
  ];
  if (problems.length > 0 || !isLevel(level))
    throw invalidOptions(OPTIONS[method] ?? 'CreateOptions', problems);
  return level;
}

/** An apply has to name its manager, and may force. Other writes may not force. */
function applyProblems({ contentType, query }: WritingRequest): FieldError[] {
  if (contentType === 'application/apply-patch+yaml') {
    const message = 'Required value: is required for apply patch';
    return query.get('fieldManager') ? [] : [{ type: 'FieldValueRequired', field: 'fieldManager', message }];
  }
  const message = 'Forbidden: may not be specified for non-apply patch';
  return query.has('force') ? [{ type: 'FieldValueForbidden', field: 'force', message }] : [];
}

function isLevel(level: string): level is FieldValidation {
  return level === 'Ignore' || level === 'Warn' || level === 'Strict';
}

function unknownLevel(level: string): FieldError {
  const message = `Unsupported value: ${goQuote(level)}: supported values: "", "Ignore", "Strict", "Warn"`;
  return { type: 'FieldValueNotSupported', field: 'fieldValidation', message };
}
