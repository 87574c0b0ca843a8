import fc from 'fast-check';
import { jsonTexts } from '../arbitraries/texts.js';
import { hostileKey, hostileScalar, hostileValue } from '../arbitraries/values.js';

/** An operation that is served: a method, and a path with its parameters in braces. */
export interface Operation {
  readonly method: string;
  readonly path: string;
}

export interface AdminRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Operations that hold the process up because a person with the token wants that. */
const HEAVY = /^\/admin\/debug\//;
const KNOWN: Readonly<Record<string, string>> = {
  controller: 'deployment',
  namespace: 'default',
  name: 'web',
  check: 'redis',
  file: 'console.js',
};

const encode = (value: unknown): string => encodeURIComponent(String(value).toWellFormed()).slice(0, 2000);

/** The requests of a run: the same for the same seed. */
export function adminRequests(
  operations: readonly Operation[],
  { count, seed, token }: { readonly count: number; readonly seed: number; readonly token: string },
): AdminRequest[] {
  return fc.sample(requestsTo(operations, token), { numRuns: count, seed });
}

function requestsTo(operations: readonly Operation[], token: string): fc.Arbitrary<AdminRequest> {
  const known = fc.constantFrom(...operations).chain((operation) =>
    fc.record({
      method: fc.oneof(
        { weight: 6, arbitrary: fc.constant(operation.method) },
        { weight: 1, arbitrary: METHODS },
      ),
      path: pathsOf(operation.path),
    }),
  );
  const strange = fc.record({
    method: METHODS,
    path: fc
      .array(fc.oneof(PARTS, hostileKey.map(encode)), { maxLength: 6 })
      .map((parts) => `/${parts.join('/')}`),
  });
  return fc
    .tuple(
      fc.oneof({ weight: 8, arbitrary: known }, { weight: 1, arbitrary: strange }),
      query,
      headersWith(token),
      body,
    )
    .map(([{ method, path }, text, headers, sent]) => ({
      method,
      path: text === '' ? path : `${path}?${text}`,
      headers: HEAVY.test(path) ? { ...headers, authorization: 'Bearer another' } : headers,
      ...(method === 'GET' || method === 'HEAD' ? {} : { body: sent }),
    }));
}

const METHODS = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE');
const PARTS = fc.constantFrom(
  ...[
    'admin',
    'console',
    'queues',
    'deployment',
    'events',
    'status',
    'metrics',
    'bull',
    'api',
    'livez',
    'local',
  ],
  ...['..', '.', '%2e%2e', '%00', '%2f', '%', '%ff', ''],
);

/** A served path, its parameters mostly as they should be. */
function pathsOf(template: string): fc.Arbitrary<string> {
  const value = (name: string): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(KNOWN[name] ?? 'x') },
      { weight: 1, arbitrary: hostileKey.map(encode) },
    );
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return fc
    .tuple(...names.map(value))
    .map((values) =>
      values.reduce((path, text, index) => path.replace(`{${names[index]}}`, () => text), template),
    );
}

const QUERY_NAMES = [
  'key',
  'state',
  'limit',
  'offset',
  'verbose',
  'exclude',
  'namespace',
  'controller',
  'seconds',
];
const query = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...QUERY_NAMES) },
        { weight: 1, arbitrary: hostileKey },
      ),
      fc.oneof(fc.constantFrom('default/web', 'waiting', '1', ''), hostileScalar.map(String), hostileKey),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&'));

const headersWith = (token: string): fc.Arbitrary<Record<string, string>> =>
  fc.record(
    {
      authorization: fc.constantFrom(
        ...[
          `Bearer ${token}`,
          `Bearer ${token}`,
          `Bearer ${token}x`,
          `Bearer ${token.slice(1)}`,
          'Bearer ',
          'Bearer',
        ],
        ...[`Basic ${btoa(`admin:${token}`)}`, token, `Bearer ${'x'.repeat(5000)}`, 'Bearer __proto__'],
      ),
      origin: fc.constantFrom('null', 'https://evil.example', 'http://127.0.0.1', ''),
      host: fc.constantFrom('evil.example', 'localhost', '127.0.0.1:1', '[::1]'),
      'x-forwarded-for': fc.constantFrom('127.0.0.1', '::1', 'x'),
      'content-type': fc.constantFrom(
        'application/json',
        'text/plain',
        'application/json; charset=x',
        '__proto__',
      ),
      'content-encoding': fc.constantFrom('identity', 'gzip', 'x'),
      accept: fc.constantFrom('application/json', 'text/html', 'text/event-stream', ';;,'),
      'last-event-id': fc.constantFrom('1', '-1', 'x'),
      'if-none-match': fc.constantFrom('*', '"x"'),
      range: fc.constantFrom('bytes=0-1', 'bytes=9-1', 'x'),
    },
    { requiredKeys: [] },
  );

const body = fc.oneof(
  jsonTexts(fc.record({ key: fc.oneof(fc.constant('default/web'), hostileKey), reason: hostileValue })),
  jsonTexts(fc.record({ level: fc.oneof(fc.constantFrom('debug', 'info'), hostileValue) })),
  jsonTexts(hostileValue),
  fc.constantFrom('', '{', '[', '"', '{"key":'.repeat(2000), 'x'.repeat(200_000)),
);
