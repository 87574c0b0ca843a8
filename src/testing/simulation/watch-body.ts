/** The body of an answer as its reader gets it: pieces in order, then an end or a failure. */
export class WatchBody implements AsyncIterable<Uint8Array> {
  private readonly pieces: Uint8Array[] = [];
  private end: { readonly error?: Error } | undefined;
  private wake: () => void = () => undefined;

  push(text: string): void {
    if (this.end) return;
    this.pieces.push(Buffer.from(text));
    this.wake();
  }

  /** @param error absent: a clean end */
  finish(error?: Error): void {
    this.end ??= { error };
    this.wake();
  }

  async text(): Promise<string> {
    const all: Uint8Array[] = [];
    for await (const piece of this) all.push(piece);
    return Buffer.concat(all).toString();
  }

  /** Errors are those of reading. */
  on(): this {
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        for (;;) {
          const piece = this.pieces.shift();
          if (piece) return { done: false, value: piece };
          if (this.end?.error) throw this.end.error;
          if (this.end) return { done: true, value: undefined };
          await new Promise<void>((resolve) => (this.wake = resolve));
        }
      },
    };
  }
}
