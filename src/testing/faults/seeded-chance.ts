import { SeededRandom } from '@rollkeeper/machinery/clock';

/**
 * Chance that does not depend on the order of requests: the n-th draw for a subject is the same in every run with the same
 * seed, regardless of draws for other subjects.
 */
export class SeededChance {
  private readonly drawn = new Map<string, number>();

  constructor(private readonly seed: number) {}

  /** In [0, 1). */
  next(subject: string): number {
    const count = (this.drawn.get(subject) ?? 0) + 1;
    this.drawn.set(subject, count);
    return new SeededRandom(hash(`${this.seed} ${subject} ${count}`)).next();
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
