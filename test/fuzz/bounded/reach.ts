import type { RandomSource } from '../../../src/machinery/clock/index.js';
import type { HostileRequest } from '../fuzzed-server.js';
import { OTHERS } from './canaries.js';
import { inNamespace, withQuery } from './paths.js';
import type { BoundedUser } from './users.js';

/** The facts about the server that a user with few rights may know. */
export interface Hearsay {
  /** Continue tokens of lists of other namespaces, and of their own. */
  readonly tokens: readonly string[];
  readonly revision: number;
}

type Attempt = (request: HostileRequest, to: Reach) => HostileRequest;

interface Reach {
  readonly own: string;
  readonly other: string;
  readonly hearsay: Hearsay;
  readonly pick: <T>(choices: readonly T[]) => T;
}

/**
 * A generated request as one of a user who reaches for other namespaces: half of them stay at home, the others try one way.
 */
export function reachFor(
  request: HostileRequest,
  { namespace, token }: BoundedUser,
  hearsay: Hearsay,
  random: RandomSource,
): HostileRequest {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random.next() * choices.length)]!;
  const other = pick(OTHERS);
  const own = { ...request, path: inNamespace(request.path, namespace) };
  const tried = random.next() < 0.5 ? own : pick(ATTEMPTS)(own, { own: namespace, other, hearsay, pick });
  // An answer must be readable to be judged.
  const { 'accept-encoding': _encoding, ...headers } = tried.headers ?? {};
  return { ...tried, headers: { ...headers, authorization: `Bearer ${token}` } };
}

const ATTEMPTS: readonly Attempt[] = [
  (request, to) => inPath(request, `/namespaces/${to.own}`, `/namespaces/${to.other}`),
  (request, to) => inPath(request, `/namespaces/${to.own}`, ''),
  (request, to) =>
    inPath(
      request,
      `/namespaces/${to.own}`,
      `/namespaces/${to.pick([
        `${to.own}%2f..%2f${to.other}`,
        `${to.own}/../${to.other}`,
        `${to.own}%00${to.other}`,
        `${to.other}%00`,
        `${to.own}%01`,
        `${to.other}/`,
        `%2e%2e/${to.other}`,
        to.other.toUpperCase(),
        `namespaces/${to.other}`,
        '%20',
        '*',
      ])}`,
    ),
  (request, { pick }) =>
    inPath(request, /^\/(api\/v1|apis\/[^/]+\/[^/]+)\//, pick(['/$1/watch/', '/$1/proxy/'])),
  (request, { hearsay, pick }) => asked(request, `continue=${pick([...hearsay.tokens, ...madeUp(hearsay)])}`),
  (request, { hearsay, pick }) =>
    asked(request, `limit=${pick([1, 2, 500])}&continue=${pick([...hearsay.tokens, ...madeUp(hearsay)])}`),
  (request, { hearsay, pick }) =>
    asked(
      request,
      `resourceVersionMatch=Exact&resourceVersion=${hearsay.revision - pick([0, 1, 2, 10, 100])}&limit=${pick(['', '1', '3'])}`,
    ),
  (request, { hearsay, pick }) =>
    asked(request, `watch=1&timeoutSeconds=1&resourceVersion=${hearsay.revision - pick([0, 1, 10, 100])}`),
  (request, { other, pick }) =>
    asked(
      request,
      `fieldSelector=${encodeURIComponent(
        pick([
          `metadata.namespace=${other}`,
          'metadata.name=sample',
          'metadata.name!=sample',
          'involvedObject.name=x',
        ]),
      )}`,
    ),
  (request, { other }) => asked(request, `namespace=${other}`),
  inBody,
];

function inPath(request: HostileRequest, from: string | RegExp, to: string): HostileRequest {
  const path = request.path.replace(from, to);
  // A watch has to end.
  return { ...request, path: path.includes('/watch/') ? withQuery(path, 'timeoutSeconds=1') : path };
}

function asked(request: HostileRequest, query: string): HostileRequest {
  return { ...request, path: withQuery(request.path, query) };
}

/** Another namespace in metadata, and in what refers to objects. */
function inBody(request: HostileRequest, { other }: Reach): HostileRequest {
  if (typeof request.body !== 'string') return request;
  const body = request.body
    .replace('"metadata":{', `"metadata":{"namespace":"${other}",`)
    .replace(/"(namespace)":"[^"]*"/g, `"$1":"${other}"`);
  return { ...request, body };
}

/** Tokens as servers made them that neither bound nor sealed them. */
function madeUp({ revision }: Hearsay): string[] {
  return ['/', `${OTHERS[0]}/a`, `../${OTHERS[0]}/a`, ''].map((start) =>
    Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start })).toString('base64url'),
  );
}
