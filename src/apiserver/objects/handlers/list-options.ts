import { goQuote, parseInt64 } from '@rollkeeper/machinery/kubernetes';
import { invalidOptions, notAnInteger } from '../../http/decoding/index.js';
import { badRequest, StatusError } from '../../schema/errors/index.js';
import type { FieldError } from '../../schema/errors/index.js';
import { checkSelectors } from '../../kinds/selectors/index.js';

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
type VersionUse = 'list' | 'other';

const MAX_UINT64 = 2n ** 64n - 1n;

/** A `resourceVersion`; undefined when it is absent or empty. @throws StatusError 400 for a list, else 500 */
export function parseVersion(query: URLSearchParams, use: VersionUse): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  const isNumber = /^\d+$/.test(text);
  if (isNumber && isUint64(text)) return Number(text);
  const parsing = `strconv.ParseUint: parsing ${goQuote(text)}: ${isNumber ? 'value out of range' : 'invalid syntax'}`;
  const problem = `resourceVersion: Invalid value: ${goQuote(text)}: ${parsing}`;
  throw use === 'list'
    ? badRequest(`invalid resource version: ${problem}`)
    : new StatusError(500, '', problem);
}

/** A long text is out of range without being read. */
function isUint64(digits: string): boolean {
  const significant = digits.replace(/^0+/, '');
  return significant.length <= 20 && BigInt(significant || '0') <= MAX_UINT64;
}

/**
 * Looks at what the parameters of a list or a watch say, as apimachinery's `ValidateListOptions` does.
 * @throws StatusError 400 for what cannot be read, 422 for what does not go together
 */
export function checkListOptions(query: URLSearchParams, { isWatch = false } = {}): void {
  if (query.size === 0) return;
  parseInteger(query, 'timeoutSeconds');
  parseInteger(query, 'limit');
  checkSelectors(query);
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
  const { match, sendsInitial } = watchedFrom(query);
  const isRight = match === 'NotOlderThan';
  return [
    ...(sendsInitial !== undefined && !isRight
      ? [forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`)]
      : []),
    ...(match === '' ? [] : watchMatchProblems(query, match, sendsInitial)),
  ];
}

function watchMatchProblems(
  query: URLSearchParams,
  match: string,
  sendsInitial: boolean | undefined,
): FieldError[] {
  return [
    ...(sendsInitial === undefined
      ? [forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`)]
      : []),
    ...(match === 'NotOlderThan' ? [] : [unknownMatch(match, ['NotOlderThan'])]),
    ...(query.get('continue') ? [forbidden(MATCH, `${MATCH} is forbidden when continue is provided`)] : []),
  ];
}

/** The requested beginning of a watch. */
interface WatchedFrom {
  readonly match: string;
  /** Undefined for a watch that continues after a version. */
  readonly sendsInitial: boolean | undefined;
}

/**
 * The beginning of a watch in a query, completed: one without a version, or from any, sends what there is. Source:
 * `SetListOptionsDefaults` of apimachinery.
 */
export function watchedFrom(query: URLSearchParams): WatchedFrom {
  const match = query.get(MATCH) ?? '';
  const asked = query.get('sendInitialEvents');
  if (asked !== null) return { match, sendsInitial: asked !== 'false' && asked !== '0' };
  const isFromAny = ['', '0'].includes(query.get('resourceVersion') ?? '');
  return match === '' && isFromAny
    ? { match: 'NotOlderThan', sendsInitial: true }
    : { match, sendsInitial: undefined };
}

function unknownMatch(match: string, known: readonly string[]): FieldError {
  const message = `Unsupported value: ${goQuote(match)}: supported values: ${known.map(goQuote).join(', ')}`;
  return { type: 'FieldValueNotSupported', field: MATCH, message };
}

function forbidden(field: string, problem: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: `Forbidden: ${problem}` };
}
