import { notAcceptable, pageNotAcceptable } from '../schema/errors/index.js';
import { PROTOBUF_MEDIA_TYPE } from './protobuf/decode-protobuf.js';

export type Format = 'json' | 'yaml' | 'protobuf';

/** The form in which the client wants an answer. */
export interface Negotiated {
  readonly format: Format;
  /** A view of the object instead of the object. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  /** Version of `meta.k8s.io` for the view. */
  readonly metaVersion: 'v1' | 'v1beta1';
}

const plainJson: Negotiated = { format: 'json', metaVersion: 'v1' };
const views = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);
const cache = new Map<string, Negotiated | undefined>();

/** The forms that an answer may have. */
interface Offer {
  /** Whether there is a message for what is answered. What has none may show its metadata so. @default false */
  readonly hasProtobuf?: boolean;
}

/**
 * Reads an `Accept` header; the alternative of the greatest weight that we have wins, of several the first.
 * @throws StatusError 406 when we have none of them
 */
export function negotiate(accept: string | undefined, offer: Offer = {}): Negotiated {
  if (!accept || accept === 'application/json' || accept === '*/*') return plainJson;
  const key = offer.hasProtobuf ? `protobuf ${accept}` : accept;
  if (!cache.has(key)) {
    if (cache.size > 100) cache.clear();
    cache.set(key, firstAcceptable(accept, offer));
  }
  const found = cache.get(key);
  if (!found) throw notAcceptable();
  return found;
}

const REPRESENTATIONS = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE];
const STREAMS = ['application/json', PROTOBUF_MEDIA_TYPE].map((type) => `${type};stream=watch`);

/**
 * Refuses what no handler of a built-in kind writes, before it is asked. Groups of types but all are none that it knows.
 * @param first what is written beside objects
 * @throws StatusError 406
 */
export function checkRepresentable(
  accept: string | undefined,
  { first = [], hasStreams }: { readonly first?: readonly string[]; readonly hasStreams: boolean },
): void {
  if (!accept) return;
  for (const clause of accept.split(',')) {
    const type = clause.split(';', 1)[0]?.trim() ?? '';
    if (type === '*/*' || REPRESENTATIONS.includes(type) || first.includes(type)) return;
  }
  throw pageNotAcceptable([...first, ...REPRESENTATIONS, ...(hasStreams ? STREAMS : [])].join(', '));
}

/** An alternative of an `Accept` header. */
interface AcceptClause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string | undefined>;
  /** The weight. @default 1 */
  readonly q: number;
}

/**
 * The alternatives of an `Accept` header in the order in which a genuine server tries them: by weight, and those of one weight
 * with `*` last. Its comparison is no order, because `*` comes after any name below it, regardless of their weights; so this
 * is the same insertion sort.
 */
export function acceptClauses(accept: string): AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const text of accept.split(',', MAX_CLAUSES)) {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    const parameters = parametersOf(rest);
    const weight = parameters.get('q');
    const clause = {
      type: type.toLowerCase(),
      parameters,
      q: weight === undefined ? 1 : Number(weight) || 0,
    };
    let at = clauses.length;
    while (at > 0 && isBefore(clause, clauses[at - 1]!)) at--;
    clauses.splice(at, 0, clause);
  }
  return clauses;
}

/** More alternatives than any client has; they are sorted in quadratic time. */
const MAX_CLAUSES = 100;

function isBefore(one: AcceptClause, other: AcceptClause): boolean {
  if (one.q > other.q) return true;
  return (
    (!one.type.startsWith('*') && other.type.startsWith('*')) ||
    (!one.type.endsWith('*') && other.type.endsWith('*'))
  );
}

function firstAcceptable(accept: string, offer: Offer): Negotiated | undefined {
  for (const { parameters, type } of acceptClauses(accept)) {
    const format = formatOf(type);
    if (!format) continue;
    const as = parameters.get('as');
    const [group, version] = [parameters.get('g'), parameters.get('v')];
    const metaVersion = version === 'v1beta1' ? 'v1beta1' : 'v1';
    if (as === undefined && group === undefined && version === undefined) {
      if (format === 'protobuf' && !offer.hasProtobuf) continue;
      return { format, metaVersion };
    }
    if (as !== undefined && isOffered(as, format) && group === 'meta.k8s.io' && metaVersion === version) {
      return { format, as, metaVersion };
    }
  }
  return undefined;
}

/** The parameters of a media type, by their names. One without `=` has no value. */
function parametersOf(parts: readonly string[]): ReadonlyMap<string, string | undefined> {
  return new Map(
    parts.map((part): [string, string | undefined] => {
      const [name = '', value] = part.split('=', 2);
      return [name, value];
    }),
  );
}

/** Tables are no messages. */
function isOffered(as: string, format: Format): as is NonNullable<Negotiated['as']> {
  return views.has(as) && !(as === 'Table' && format === 'protobuf');
}

function formatOf(type: string): Format | undefined {
  if (type === PROTOBUF_MEDIA_TYPE) return 'protobuf';
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

/** A genuine server reads no weights: `gzip;q=0` and `gzip;q=1` are both other words. */
export function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((encoding) => encoding.trim() === 'gzip');
}

/** How a refusal is written: a view is one of what is not there. */
export function formatOfRefusal(accept: string | undefined): Format {
  if (!accept || !/yaml|protobuf/.test(accept)) return 'json';
  const found = firstAcceptable(accept, { hasProtobuf: true });
  return found && found.as === undefined ? found.format : 'json';
}
