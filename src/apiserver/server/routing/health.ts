import type { Clock } from '@rollkeeper/machinery/clock';
import { plainText } from '../../http/index.js';
import type { ApiRequest, RawResponse } from '../../http/index.js';
import type { Storage, UnreadableObjects } from '../../storage/index.js';
import { CHECKS, OF_STORE, PROBES } from './health-checks.js';
import type { Probe } from './health-checks.js';
import type { HealthSlis } from './health-slis.js';

/** All paths of checks: `/livez/ping`. */
export const HEALTH_PATHS: readonly string[] = PROBES.flatMap((probe) => [
  `/${probe}`,
  ...CHECKS[probe].map((check) => `/${probe}/${check}`),
]);
const known: ReadonlySet<string> = new Set(HEALTH_PATHS);

export function isHealthPath(path: string): boolean {
  return known.has(path);
}

/** The parts that the checks ask, and the place where their results are recorded. */
interface CheckedParts {
  readonly storage: Pick<Storage, 'assertWritable'>;
  readonly clock: Clock;
  readonly unreadable: Pick<UnreadableObjects, 'names'>;
  readonly slis: HealthSlis;
}

/**
 * `/livez` says that the process answers, the other two that its store answers and takes writes as well, and `/livez/NAME` says it
 * of one check. `?verbose` names the checks, `?exclude=NAME` leaves one out.
 */
export async function handleHealth(
  parts: CheckedParts,
  request: Pick<ApiRequest, 'path' | 'query'>,
): Promise<RawResponse> {
  const [, probe = '', ...rest] = request.path.split('/');
  const check = rest.join('/');
  return check === '' ? probeAll(parts, probe as Probe, request.query) : probeOne(parts, check);
}

async function probeOne(parts: CheckedParts, check: string): Promise<RawResponse> {
  const isHealthy = !OF_STORE.has(check) || (await takesWrites(parts));
  if (isHealthy) return plainText(200, 'ok');
  return plainText(500, `internal server error: ${check}: reason withheld\n`);
}

async function probeAll(parts: CheckedParts, probe: Probe, query: URLSearchParams): Promise<RawResponse> {
  const { slis, unreadable } = parts;
  const asked = new Set(query.getAll('exclude'));
  // A restart does not help a server whose store is unavailable.
  const isExcluded = (check: string): boolean =>
    asked.has(check) || (probe === 'livez' && OF_STORE.has(check));
  const checks = CHECKS[probe];
  const asksStore = checks.some((check) => OF_STORE.has(check) && !isExcluded(check));
  const hasStore = asksStore && (await takesWrites(parts));
  const results = checks.map((check) => ({
    check,
    isExcluded: isExcluded(check),
    isFulfilled: !OF_STORE.has(check) || hasStore,
  }));
  for (const result of results) if (!result.isExcluded) slis.observe(probe, result.check, result.isFulfilled);
  const isHealthy = results.every((result) => result.isExcluded || result.isFulfilled);
  if (isHealthy && !query.has('verbose')) return plainText(200, 'ok');
  const lines = [
    ...results.map(lineOf),
    ...warnings(
      [...asked].filter((check) => !checks.includes(check)),
      unreadable,
    ),
    `${probe} check ${isHealthy ? 'passed' : 'failed'}`,
  ];
  return plainText(isHealthy ? 200 : 500, `${lines.join('\n')}\n`);
}

function lineOf(result: {
  readonly check: string;
  readonly isExcluded: boolean;
  readonly isFulfilled: boolean;
}): string {
  if (result.isExcluded) return `[+]${result.check} excluded: ok`;
  return result.isFulfilled ? `[+]${result.check} ok` : `[-]${result.check} failed: reason withheld`;
}

function warnings(unmatched: readonly string[], { names }: CheckedParts['unreadable']): string[] {
  const quoted = [...unmatched].sort().map((name) => JSON.stringify(name));
  return [
    ...(quoted.length > 0
      ? [`warn: some health checks cannot be excluded: no matches for ${quoted.join(',')}`]
      : []),
    // The names are only logged: the client may be anonymous. The server works without them.
    ...(names.length > 0
      ? [`[!]objects: ${names.length} in the store cannot be understood, the log names them`]
      : []),
  ];
}

/** Less than clients wait for a probe, and than the store's own limit of a command. */
const STORE_ANSWERS_WITHIN_MS = 1000;

async function takesWrites({ clock, storage }: CheckedParts): Promise<boolean> {
  const done = new AbortController();
  const late = clock.sleep(STORE_ANSWERS_WITHIN_MS, done.signal).then(
    () => false,
    () => false,
  );
  const answered = storage.assertWritable().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, late]);
  } finally {
    done.abort();
  }
}
