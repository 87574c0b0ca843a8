import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/**
 * The address at which the console shows an object of another kind.
 * @param adminUrl of a replica
 * @param api of the Deployment @default apps/v1
 */
export function rolloutAddress(
  adminUrl: string,
  { name, namespace }: { readonly namespace: string; readonly name: string },
  api = 'apps/v1',
): string {
  const url = new URL('/console', adminUrl);
  url.searchParams.set('deployment', `${namespace}/${name}${api === 'apps/v1' ? '' : `?api=${api}`}`);
  return url.href;
}

/** The address at which the console shows an object of another kind. @param word of the kind, such as its plural */
export function objectAddress(
  adminUrl: string,
  word: string,
  { name, namespace }: { readonly namespace?: string | undefined; readonly name: string },
): string {
  const url = new URL('/console', adminUrl);
  url.searchParams.set('object', [word, ...(namespace ? [namespace] : []), name].join('/'));
  return url.href;
}

/** The address at which the console lists the problems that have these words. */
export function problemsAddress(adminUrl: string, words: string): string {
  const url = new URL('/console', adminUrl);
  url.searchParams.set('problem', words);
  url.hash = 'problems';
  return url.href;
}

/**
 * The origin of the console. Its files have their places there, so a path has no use.
 * @throws InvalidOptionError
 */
export function parseConsoleUrl(url: string | undefined, option: string): string | undefined {
  if (url === undefined) return undefined;
  const parsed = URL.parse(url);
  const isOrigin =
    parsed !== null && /^https?:$/.test(parsed.protocol) && /^(\/(console\/?)?)?$/.test(parsed.pathname);
  if (!isOrigin || parsed.search || parsed.hash || parsed.username)
    throw new InvalidOptionError(
      option,
      `"${url}" must be http:// or https:// with a host, and without path, query and login`,
    );
  return parsed.origin;
}
