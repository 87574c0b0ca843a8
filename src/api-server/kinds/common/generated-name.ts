import type { RandomSource } from '../../../base/clock/index.js';
import type { UnstructuredObject } from '../../../base/kubernetes/index.js';

/** Kubernetes' safe alphabet: no vowels and no look-alikes, so that no word appears by chance. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_GENERATED_BASE = 63 - SUFFIX_LENGTH;

/** A name that begins with `base`, as apiserver's `names.SimpleNameGenerator` makes it. */
export function generatedName(base: string, random: RandomSource): string {
  let suffix = '';
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += ALPHABET[Math.floor(random.next() * ALPHABET.length)];
  return base.slice(0, MAX_GENERATED_BASE) + suffix;
}

/** Gives an object without a name one made from `generateName`. */
export function applyGeneratedName({ metadata }: UnstructuredObject, random: RandomSource): void {
  if (metadata.name || !metadata.generateName) return;
  metadata.name = generatedName(metadata.generateName, random);
}
