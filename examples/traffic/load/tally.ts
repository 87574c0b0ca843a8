/** The outcome of one request. */
export interface Outcome {
  /** The image that answered; undefined if none did. */
  readonly image?: string;
  /** Why it failed: a status of 500 and more, or no answer. */
  readonly failure?: string;
  /** The cookie that the answer sets. @default none */
  readonly cookie?: string;
}

/** Counts the outcomes of requests. */
export class Tally {
  private readonly images = new Map<string, number>();
  private readonly reasons = new Map<string, number>();

  add({ failure, image }: Outcome): void {
    const [counts, name] = failure === undefined ? [this.images, image ?? ''] : [this.reasons, failure];
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  get answered(): number {
    return sum(this.images);
  }

  get failed(): number {
    return sum(this.reasons);
  }

  /** How often each reason was seen. */
  get failures(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.reasons);
  }

  /** The requests that each image answered. */
  get byImage(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.images);
  }

  /** The part of the answers that came from an image, 0 to 1. */
  shareOf(image: string): number {
    return this.answered === 0 ? 0 : (this.images.get(image) ?? 0) / this.answered;
  }
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
