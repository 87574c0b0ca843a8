import { ApiProtocolError } from './transport-errors.js';

/**
 * Limit of a line. etcd's default limit for an object is 1.5 MiB; a line ten times longer means that the stream is not
 * a watch or has no line ends, and it must not fill the memory.
 */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines and only decodes whole lines: no byte of a multi-byte UTF-8 sequence equals a
 * newline, so a character split across two chunks is never decoded in parts. Empty lines are skipped.
 */
export class LineSplitter {
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  /** The lines completed by `chunk`. */
  push(chunk: Uint8Array): string[] {
    const end = chunk.lastIndexOf(NEWLINE);
    const text = end < 0 ? '' : this.complete(chunk.subarray(0, end));
    if (end + 1 < chunk.length) this.keep(chunk.subarray(end + 1));
    return text.split('\n').filter((line) => line !== '');
  }

  /** Whether the stream ended in the middle of a line. */
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
