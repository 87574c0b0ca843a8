import type { RandomSource } from '../../base/clock/index.js';

/** Kubernetes' alphabet of generated names: no vowels, so no words, and nothing that reads like another letter. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** A generated name stays below 63 characters, the limit of a label and of a host name. */
const MAX_PREFIX_LENGTH = 63 - SUFFIX_LENGTH;

/** The `metadata.generateName` of a ReplicaSet's pods. */
export function podNamePrefix(replicaSetName: string): string {
  return `${replicaSetName}-`;
}

/** `count` new names for pods, none of which `isTaken` and no two of which are the same. */
export function choosePodNames(input: {
  readonly replicaSetName: string;
  readonly count: number;
  readonly isTaken: (name: string) => boolean;
  readonly random: RandomSource;
}): string[] {
  const prefix = podNamePrefix(input.replicaSetName).slice(0, MAX_PREFIX_LENGTH);
  const names = new Set<string>();
  while (names.size < input.count) {
    const name = prefix + suffix(input.random);
    if (!input.isTaken(name)) names.add(name);
  }
  return [...names];
}

function suffix(random: RandomSource): string {
  let text = '';
  while (text.length < SUFFIX_LENGTH) text += ALPHABET[Math.floor(random.next() * ALPHABET.length)];
  return text;
}
