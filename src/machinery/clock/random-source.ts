import { randomInt } from 'node:crypto';

/** The only source of randomness in the product, so that a test can seed it. */
export interface RandomSource {
  /** A number in [0, 1). */
  next(): number;
}

/** Randomness from the operating system; good enough for names and jitter. */
export class SystemRandom implements RandomSource {
  next(): number {
    return randomInt(2 ** 32) / 2 ** 32;
  }
}

/** A repeatable sequence (mulberry32) for tests; print the seed in the test's output. */
export class SeededRandom implements RandomSource {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}

/**
 * A random UUID (version 4). As unguessable as the source: with {@link SystemRandom} it has the 122 bits of
 * `crypto.randomUUID`.
 */
export function uuidOf(random: RandomSource): string {
  const words = [0, 1, 2, 3].map(() => Math.floor(random.next() * 2 ** 32));
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}

/** `baseMs` extended by up to `maxFactor` of itself, like client-go's `wait.Jitter`. */
export function jitter(baseMs: number, maxFactor: number, random: RandomSource): number {
  return baseMs + baseMs * maxFactor * random.next();
}
