import { notAcceptable } from '../errors/index.js';

/** What the client wants an answer to look like. */
export interface Negotiated {
  readonly format: 'json' | 'yaml';
  /** A view of the object instead of the object. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  /** Version of `meta.k8s.io` for the view. */
  readonly metaVersion: 'v1' | 'v1beta1';
}

const plainJson: Negotiated = { format: 'json', metaVersion: 'v1' };
const views = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']);
const cache = new Map<string, Negotiated | undefined>();

/**
 * Reads an `Accept` header; the first alternative that we have wins.
 * @throws StatusError 406 when we have none of them
 */
export function negotiate(accept: string | undefined): Negotiated {
  if (!accept || accept === 'application/json' || accept === '*/*') return plainJson;
  if (!cache.has(accept)) {
    if (cache.size > 100) cache.clear();
    cache.set(accept, firstAcceptable(accept));
  }
  const found = cache.get(accept);
  if (!found) throw notAcceptable();
  return found;
}

function firstAcceptable(accept: string): Negotiated | undefined {
  for (const clause of accept.split(',')) {
    const [type = '', ...rest] = clause.split(';').map((part) => part.trim());
    const format = formatOf(type.toLowerCase());
    if (!format) continue;
    const parameters = new Map(rest.map((part) => part.split('=', 2) as [string, string]));
    const as = parameters.get('as');
    const metaVersion = parameters.get('v') === 'v1beta1' ? 'v1beta1' : 'v1';
    if (as === undefined) return { format, metaVersion };
    if (views.has(as) && parameters.get('g') === 'meta.k8s.io') {
      return { format, as: as as NonNullable<Negotiated['as']>, metaVersion };
    }
  }
  return undefined;
}

function formatOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}
