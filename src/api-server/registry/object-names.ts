import type { RandomSource } from '../../base/clock/index.js';
import type { UnstructuredObject } from '../../base/kubernetes/index.js';

/** Kubernetes' safe alphabet: no vowels and no look-alikes, so that no word appears by chance. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_GENERATED_BASE = 63 - SUFFIX_LENGTH;

/** Gives an object without a name one made from `generateName`, as apiserver's `names.SimpleNameGenerator` does. */
export function applyGeneratedName(object: UnstructuredObject, random: RandomSource): void {
  const { metadata } = object;
  if (metadata.name || !metadata.generateName) return;
  let suffix = '';
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += ALPHABET[Math.floor(random.next() * ALPHABET.length)];
  metadata.name = metadata.generateName.slice(0, MAX_GENERATED_BASE) + suffix;
}
