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
/** Texts repeat; no more are remembered. */
const MOST_TEXTS = 20_000;

type Halves = readonly [low: number, high: number];

/** All that happened in a run, as a hash; and as lines, if they are kept. Equal seeds have equal hashes. */
export class Trace {
  readonly lines: TraceLine[] = [];
  /** How many lines there were, kept or not. */
  length = 0;
  private readonly known = new Map<string, Halves>();
  private readonly instant = new Float64Array(1);
  private readonly instantWords = new Uint32Array(this.instant.buffer);
  private low = 0x811c9dc5;
  private high = 0x9747b28c;

  /** @param keep how many of the last lines are kept */
  constructor(private readonly keep = 0) {}

  note(atMs: number, from: string, to: string, text: string): void {
    this.length += 1;
    this.instant[0] = atMs;
    this.mix(this.instantWords[0]!, this.instantWords[1]!);
    for (const each of [from, to, text]) this.mix(...this.hashOf(each));
    if (this.keep === 0) return;
    this.lines.push({ atMs, from, to, text });
    if (this.lines.length >= 2 * this.keep) this.lines.splice(0, this.lines.length - this.keep);
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return [this.high, this.low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }

  private mix(low: number, high: number): void {
    this.low = Math.imul(this.low ^ low, PRIMES[0]) ^ (this.low >>> 13);
    this.high = Math.imul(this.high ^ high ^ this.low, PRIMES[1]) ^ (this.high >>> 15);
  }

  private hashOf(text: string): Halves {
    const known = this.known.get(text);
    if (known) return known;
    let [low, high] = [0x811c9dc5, 0x9747b28c];
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      low = Math.imul(low ^ code, PRIMES[0]);
      high = Math.imul(high ^ code, PRIMES[1]) ^ (low >>> 15);
    }
    if (this.known.size >= MOST_TEXTS) this.known.clear();
    const halves: Halves = [low, high];
    this.known.set(text, halves);
    return halves;
  }
}
