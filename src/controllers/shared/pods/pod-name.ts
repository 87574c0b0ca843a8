import { createHash } from 'node:crypto';
import type { RandomSource } from '@rollkeeper/machinery/clock';
import { SAFE_ALPHABET } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';

const SUFFIX_LENGTH = 5;
/** A generated name stays below 63 characters, the limit of a label and of a host name. */
const MAX_PREFIX_LENGTH = 63 - SUFFIX_LENGTH;

/**
 * The `metadata.generateName` of an owner's pods.
 * @param part between the owner's name and the end of all names, `-3` for example; never truncated
 */
export function podNamePrefix(ownerName: string, part = ''): string {
  const rest = `${part}-`;
  return part === '' ? `${ownerName}-` : ownerName.slice(0, MAX_PREFIX_LENGTH - rest.length) + rest;
}

interface ChosenNames {
  readonly prefix: string;
  readonly count: number;
  readonly isTaken: (name: string) => boolean;
}

/** `count` distinct new names for pods that are not taken. */
export function choosePodNames({
  random,
  ...input
}: ChosenNames & { readonly random: RandomSource }): string[] {
  return distinctNames(input, () => Math.floor(random.next() * SAFE_ALPHABET.length));
}

/**
 * As {@link choosePodNames}, but deterministic: the untaken names of the series given by `seed`. A repeated sync that
 * may have created its pods tries the same names: one that the caches do not show yet answers AlreadyExists. Nothing
 * has to be stored for that.
 * @param seed {@link seedOf} the owner
 */
export function stablePodNames({ seed, ...input }: ChosenNames & { readonly seed: string }): string[] {
  let block = Buffer.alloc(0);
  let blocks = 0;
  let at = 0;
  return distinctNames(input, () => {
    if (at === block.length) {
      block = createHash('sha256').update(`${seed}/${blocks++}`).digest();
      at = 0;
    }
    return block.readUInt8(at++) % SAFE_ALPHABET.length;
  });
}

/** Changes whenever the owner does, including its status, so that a name hardly ever recurs. */
export function seedOf(
  { metadata }: DeepReadonly<KubernetesObject>,
  ...parts: readonly (string | number)[]
): string {
  return [metadata.uid, metadata.resourceVersion, ...parts].join('/');
}

function distinctNames({ count, isTaken, prefix }: ChosenNames, nextLetter: () => number): string[] {
  const start = prefix.slice(0, MAX_PREFIX_LENGTH);
  const names = new Set<string>();
  while (names.size < count) {
    let name = start;
    for (let length = 0; length < SUFFIX_LENGTH; length++) name += SAFE_ALPHABET[nextLetter()];
    if (!isTaken(name)) names.add(name);
  }
  return [...names];
}
