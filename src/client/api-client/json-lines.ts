import { ApiProtocolError } from './transport-errors.js';

/**
 * Longest line that is collected. etcd's objects are 1.5 MiB at most by default, and nobody raises that tenfold: beyond it the
 * stream is not what we think, or has no end, and must not fill the memory.
 */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Cuts a byte stream into lines and decodes whole lines only: no byte of a longer UTF-8 sequence equals a newline, so
 * a character that arrives in two chunks is never decoded in parts. Empty lines are skipped.
 */
export class LineSplitter {
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  /** The lines that `chunk` completes. */
  push(chunk: Uint8Array): string[] {
    const end = chunk.lastIndexOf(NEWLINE);
    const text = end < 0 ? '' : this.complete(chunk.subarray(0, end));
    if (end + 1 < chunk.length) this.keep(chunk.subarray(end + 1));
    return text.split('\n').filter((line) => line !== '');
  }

  /** Whether the stream stopped in the middle of a line. */
  get hasPartialLine(): boolean {
    return this.pendingBytes > 0;
  }

  private complete(tail: Uint8Array): string {
    if (this.pendingBytes === 0) return decode(tail);
    const line = Buffer.concat([...this.pending, tail]);
    this.pending = [];
    this.pendingBytes = 0;
    return decode(line);
  }

  private keep(part: Uint8Array): void {
    this.pending.push(part);
    this.pendingBytes += part.length;
    if (this.pendingBytes <= MAX_LINE_BYTES) return;
    this.pending = [];
    throw new ApiProtocolError(`a line longer than ${MAX_LINE_BYTES} bytes`, { tooLarge: true });
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
