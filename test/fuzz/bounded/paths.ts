import { NAMESPACE } from '../seeds/index.js';

/** A path that was made for the namespace of the fuzzer, in another. */
export function inNamespace(path: string, namespace: string): string {
  return path.replace(`/namespaces/${NAMESPACE}`, `/namespaces/${namespace}`);
}

/** Adds parameters in front of those that are there: of two of one name the first counts. */
export function withQuery(path: string, parameters: string): string {
  const [bare = '', query] = path.split('?', 2);
  return `${bare}?${parameters}${query === undefined || query === '' ? '' : `&${query}`}`;
}
