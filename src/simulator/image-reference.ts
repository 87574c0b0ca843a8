/**
 * Words in an image's repository or tag that make it fail. A simulated node has no registry to ask, and people use
 * these words for images that should not work. Matched case-insensitively, anywhere in the repository (without the
 * registry's host) or the tag.
 */
export const BROKEN_IMAGE_WORDS = [
  'broken',
  'bad',
  'fail',
  'invalid',
  'nonexistent',
  'non-existent',
  'doesnotexist',
  'does-not-exist',
  'missing',
  'notfound',
  'not-found',
  'no-such',
  'nope',
  'bogus',
  'wrong',
  'typo',
] as const;

/** The failing image in the Deployment page of the Kubernetes documentation. */
const DOCUMENTED_TYPO = 'nginx:1.161';
/** Hosts in this reserved domain never exist (RFC 2606). */
const NOWHERE = /\.invalid(:\d+)?$/;

/** Words that make an image start, and its container exit repeatedly. */
export const CRASHING_IMAGE_WORDS = ['crash'] as const;

/** Words that make an image start, but its container never ready. */
export const NEVER_READY_IMAGE_WORDS = [
  'never-ready',
  'neverready',
  'not-ready',
  'notready',
  'unready',
] as const;

export type ImageVerdict = 'good' | 'malformed' | 'broken' | 'crashing' | 'never-ready';

/** How a simulated node treats an image reference. */
export function judgeImage(image: string): ImageVerdict {
  const reference = parseImageReference(image);
  if (!reference) return 'malformed';
  const text = `${reference.repository}:${reference.tag ?? ''}`.toLowerCase();
  if (CRASHING_IMAGE_WORDS.some((word) => text.includes(word))) return 'crashing';
  const existsNowhere = NOWHERE.test(reference.registry ?? '') || text === DOCUMENTED_TYPO;
  if (existsNowhere || BROKEN_IMAGE_WORDS.some((word) => text.includes(word))) return 'broken';
  return NEVER_READY_IMAGE_WORDS.some((word) => text.includes(word)) ? 'never-ready' : 'good';
}

interface ImageReference {
  /** Host and port of the registry, if present. */
  readonly registry?: string;
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const HOST_LABEL = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const REFERENCE = new RegExp(
  `^(?:(?<registry>(?:${HOST_LABEL}(?:\\.${HOST_LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?)/)?` +
    `(?<repository>${COMPONENT}(?:/${COMPONENT})*)` +
    '(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?' +
    '(?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$',
);

/** Parses a reference by the grammar of github.com/distribution/reference; undefined if it does not match. */
export function parseImageReference(image: string): ImageReference | undefined {
  if (image.length > 1024) return undefined;
  const { registry, repository = '', tag, digest } = REFERENCE.exec(image)?.groups ?? {};
  if (repository === '') return undefined;
  // `library/nginx` has no host: a host contains a dot or a port, or is `localhost`.
  if (registry !== undefined && !/[.:]/.test(registry) && registry !== 'localhost') {
    if (registry !== registry.toLowerCase()) return undefined;
    return { repository: `${registry}/${repository}`, tag, digest };
  }
  return { registry, repository, tag, digest };
}
