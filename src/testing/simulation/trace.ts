/** One line of a trace: a message, a fault, or a step inside one process. */
export interface TraceLine {
  /** Simulated milliseconds since the start. */
  readonly atMs: number;
  readonly from: string;
  /** The same as `from` for what happens inside it. */
  readonly to: string;
  readonly text: string;
}

const PRIMES = [0x01000193, 0x85ebca6b] as const;

/** All that happened in a run, as a hash; and as lines, if they are kept. Equal seeds have equal hashes. */
export class Trace {
  readonly lines: TraceLine[] = [];
  /** How many lines there were, kept or not. */
  length = 0;
  private low = 0x811c9dc5;
  private high = 0x9747b28c;

  /** @param keep how many of the last lines are kept */
  constructor(private readonly keep = 0) {}

  note(atMs: number, from: string, to: string, text: string): void {
    this.length += 1;
    this.mix(String(atMs));
    this.mix(from);
    this.mix(to);
    this.mix(text);
    if (this.keep === 0) return;
    this.lines.push({ atMs, from, to, text });
    if (this.lines.length >= 2 * this.keep) this.lines.splice(0, this.lines.length - this.keep);
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return [this.high, this.low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }

  private mix(text: string): void {
    let { low, high } = this;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      low = Math.imul(low ^ code, PRIMES[0]);
      high = Math.imul(high ^ code, PRIMES[1]) ^ (low >>> 15);
    }
    // A separator, so that moved boundaries change the hash.
    this.low = Math.imul(low ^ 0x1f, PRIMES[0]);
    this.high = high ^ this.low;
  }
}
