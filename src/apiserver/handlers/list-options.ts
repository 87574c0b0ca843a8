import { goQuote, parseInt64 } from '@rollkeeper/machinery/kubernetes';
import { invalidOptions, notAnInteger } from '../decoding/index.js';
import { badRequest, StatusError } from '../errors/index.js';
import type { FieldError } from '../errors/index.js';

/**
 * An integer in a query; undefined when the parameter is absent or empty.
 * @throws StatusError 400 for what is no int64
 */
export function parseInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = parseInt64(text);
  if (value === undefined) throw badRequest(notAnInteger(text));
  return Number(value);
}

/** The maximum number of objects of a list. A negative number sets no limit. */
export function parseLimit(query: URLSearchParams): number | undefined {
  const limit = parseInteger(query, 'limit');
  return limit === undefined || limit < 0 ? undefined : limit;
}

/** A list refuses an invalid version differently than a watch or a read of one object. */
export type VersionUse = 'list' | 'other';

/** A `resourceVersion`; undefined when it is absent or empty. @throws StatusError 400 for a list, else 500 */
export function parseVersion(query: URLSearchParams, use: VersionUse): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  const parsing = `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`;
  const problem = `resourceVersion: Invalid value: ${goQuote(text)}: ${parsing}`;
  throw use === 'list'
    ? badRequest(`invalid resource version: ${problem}`)
    : new StatusError(500, '', problem);
}

/**
 * Looks at what the parameters of a list or a watch say, as apimachinery's `ValidateListOptions` does.
 * @throws StatusError 400 for what cannot be read, 422 for what does not go together
 */
export function checkListOptions(query: URLSearchParams, { isWatch = false } = {}): void {
  if (query.size === 0) return;
  parseInteger(query, 'timeoutSeconds');
  parseInteger(query, 'limit');
  const problems = isWatch ? watchProblems(query) : listProblems(query);
  if (problems.length > 0) throw invalidOptions('ListOptions', problems);
}

const MATCH = 'resourceVersionMatch';

function listProblems(query: URLSearchParams): FieldError[] {
  const match = query.get(MATCH) ?? '';
  const version = query.get('resourceVersion') ?? '';
  return [
    ...(match === ''
      ? []
      : matchProblems(match, version, query.has('continue') && query.get('continue') !== '')),
    ...(query.has('sendInitialEvents')
      ? [forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')]
      : []),
  ];
}

function matchProblems(match: string, version: string, continues: boolean): FieldError[] {
  return [
    ...(version === '' ? [forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`)] : []),
    ...(continues ? [forbidden(MATCH, `${MATCH} is forbidden when continue is provided`)] : []),
    ...(match === 'Exact' || match === 'NotOlderThan'
      ? []
      : [unknownMatch(match, ['Exact', 'NotOlderThan', ''])]),
    ...(match === 'Exact' && version === '0'
      ? [forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`)]
      : []),
  ];
}

function watchProblems(query: URLSearchParams): FieldError[] {
  const match = query.get(MATCH) ?? '';
  const sendsInitial = query.has('sendInitialEvents');
  const isRight = match === 'NotOlderThan';
  return [
    ...(sendsInitial && !isRight
      ? [forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`)]
      : []),
    ...(!sendsInitial && match !== ''
      ? [forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`)]
      : []),
    ...(match !== '' && !isRight ? [unknownMatch(match, ['NotOlderThan'])] : []),
    ...(query.get('continue') ? [forbidden(MATCH, `${MATCH} is forbidden when continue is provided`)] : []),
  ];
}

function unknownMatch(match: string, known: readonly string[]): FieldError {
  const message = `Unsupported value: ${goQuote(match)}: supported values: ${known.map(goQuote).join(', ')}`;
  return { type: 'FieldValueNotSupported', field: MATCH, message };
}

function forbidden(field: string, problem: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: `Forbidden: ${problem}` };
}
