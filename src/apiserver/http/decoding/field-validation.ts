import { badRequest, requestTooLarge } from '../../schema/errors/index.js';
import { describeFinding, DocumentLimitError } from '../../schema/index.js';
import type { FieldFinding } from '../../schema/index.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

const MAX_SHOWN = 200;

/** `strict decoding error: unknown field "spec.foo", …` */
export function strictErrorText(findings: readonly FieldFinding[]): string {
  const shown = findings.slice(0, MAX_SHOWN);
  const rest = findings.length - shown.length;
  const repeated = shown.filter(({ problem }) => problem === 'repeated');
  const fields = shown.filter(({ problem }) => problem !== 'repeated').map(describeFinding);
  const texts = repeated.length > 0 ? [repeatedText(repeated), ...fields] : fields;
  return `strict decoding error: ${texts.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}

/** Keys that a text of YAML repeats are one error. */
function repeatedText(repeated: readonly FieldFinding[]): string {
  return `yaml: unmarshal errors:\n  ${repeated.map(describeFinding).join('\n  ')}`;
}

/**
 * Refuses, or reports, keys that an applied configuration repeats.
 * @returns texts for `Warning` headers
 * @throws StatusError 400
 */
export function judgeAppliedFindings(findings: readonly FieldFinding[], level: FieldValidation): string[] {
  if (findings.length === 0 || level === 'Ignore') return [];
  if (level === 'Strict')
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: ${repeatedText(findings.slice(0, MAX_SHOWN))}`,
    );
  return findings.map(describeFinding);
}

/**
 * Refuses, or reports, what a body has that its schema has not.
 * @returns texts for `Warning` headers
 * @throws StatusError 400
 */
export function judgeFindings(
  findings: readonly FieldFinding[],
  level: FieldValidation,
  kind: { readonly version: string; readonly kind: string },
): string[] {
  if (findings.length === 0 || level === 'Ignore') return [];
  if (level === 'Strict') {
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${strictErrorText(findings)}`,
    );
  }
  return findings.map(describeFinding);
}

/** Translates an exceeded document limit from any decoder; other errors are unchanged. */
export function translateDocumentLimit(error: unknown): unknown {
  if (!(error instanceof DocumentLimitError)) return error;
  return error.limit === 'depth' ? badRequest(error.message, error) : requestTooLarge(error.message);
}
