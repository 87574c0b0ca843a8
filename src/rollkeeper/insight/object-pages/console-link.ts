import { objectAddress, problemsAddress, rolloutAddress } from './console-addresses.js';
import { OBJECT_TYPES, wordOf } from './index.js';

/** An object as problems and Events name it. */
export interface LinkedObject {
  readonly kind: string;
  readonly apiVersion?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * The address at which the console shows an object: a rollout, the page of another kind, or of one without a page its
 * problems.
 */
export function consoleLink(consoleUrl: string, object: LinkedObject): string {
  const { apiVersion = '', kind, name, namespace } = object;
  if (kind === 'Deployment' && namespace !== undefined)
    return rolloutAddress(consoleUrl, { namespace, name }, apiVersion === '' ? undefined : apiVersion);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const type = OBJECT_TYPES.find((each) => each.kind === kind && each.group === group);
  if (type) return objectAddress(consoleUrl, wordOf(type), { namespace, name });
  return problemsAddress(consoleUrl, namespace === undefined ? name : `${namespace}/${name}`);
}
