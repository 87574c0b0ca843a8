import type { RandomSource } from '../clock/index.js';
import type { KubernetesObject } from './objects.js';

/** Pattern of an RFC 1123 label, the form of most names in a cluster; at most 63 characters. */
export const DNS_1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
/** The same, starting with a letter. */
export const DNS_1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
/** Maximum length of a label, a label value, or a part of a host name. */
export const MAX_LABEL_LENGTH = 63;

const LABEL = new RegExp(`^${DNS_1123_LABEL}$`);

export function isDnsLabel(text: string): boolean {
  return text.length <= MAX_LABEL_LENGTH && LABEL.test(text);
}

/**
 * The characters of generated names in Kubernetes: no vowels, so that no words appear by chance, and no characters that
 * look alike.
 */
export const SAFE_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const SUFFIX_LENGTH = 5;
const MAX_PREFIX_LENGTH = MAX_LABEL_LENGTH - SUFFIX_LENGTH;

/** A name of at most 63 characters that starts with `prefix`, like apiserver's `names.SimpleNameGenerator`. */
export function generatedName(prefix: string, random: RandomSource): string {
  let suffix = '';
  while (suffix.length < SUFFIX_LENGTH)
    suffix += SAFE_ALPHABET[Math.floor(random.next() * SAFE_ALPHABET.length)];
  return prefix.slice(0, MAX_PREFIX_LENGTH) + suffix;
}

/** Names an object without a name by its `generateName`. */
export function applyGeneratedName({ metadata }: KubernetesObject, random: RandomSource): void {
  if (metadata.name || !metadata.generateName) return;
  metadata.name = generatedName(metadata.generateName, random);
}
