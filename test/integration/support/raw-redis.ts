import type { Duplex } from 'node:stream';

/** Signs of replies that are one line; of the others a count or a length follows. */
const LINES = '+-:_,#(';

/**
 * A connection on which requests are answered by the very bytes of the server: each character is a byte.
 */
export class RawRedis {
  private text = '';
  private wake: (() => void) | undefined;

  constructor(private readonly stream: Duplex) {
    stream.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1');
      this.wake?.();
    });
    stream.on('error', () => undefined);
  }

  /** Sends requests at once, and returns the bytes of as many replies. */
  async ask(...requests: readonly (readonly string[])[]): Promise<string[]> {
    this.send(...requests);
    const replies: string[] = [];
    while (replies.length < requests.length) replies.push(await this.next());
    return replies;
  }

  send(...requests: readonly (readonly string[])[]): void {
    this.stream.write(Buffer.from(requests.map(bytesOf).join(''), 'latin1'));
  }

  /** The bytes of the next reply or message. */
  async next(): Promise<string> {
    for (;;) {
      const end = endOfReply(this.text, 0);
      if (end !== undefined) {
        const reply = this.text.slice(0, end);
        this.text = this.text.slice(end);
        return reply;
      }
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  close(): void {
    this.stream.destroy();
  }
}

function bytesOf(request: readonly string[]): string {
  return `*${request.length}\r\n${request.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

/** The end of the reply that begins at `at`; undefined while it is incomplete. */
function endOfReply(text: string, at: number): number | undefined {
  const lineEnd = text.indexOf('\r\n', at);
  if (lineEnd < 0) return undefined;
  const sign = text[at] ?? '';
  const next = lineEnd + 2;
  if (LINES.includes(sign)) return next;
  const count = Number(text.slice(at + 1, lineEnd));
  if (sign === '$' || sign === '=') {
    const end = count < 0 ? next : next + count + 2;
    return end <= text.length ? end : undefined;
  }
  let end: number | undefined = next;
  const items = sign === '%' ? 2 * count : count;
  for (let item = 0; item < items && end !== undefined; item++) end = endOfReply(text, end);
  return end;
}

/** A reply as values, for comparisons in which the order of some things is free. */
export function parseReply(bytes: string): unknown {
  return parseAt(bytes, { at: 0 });
}

function parseAt(text: string, place: { at: number }): unknown {
  const lineEnd = text.indexOf('\r\n', place.at);
  const sign = text[place.at] ?? '';
  const rest = text.slice(place.at + 1, lineEnd);
  place.at = lineEnd + 2;
  if (LINES.includes(sign)) return sign + rest;
  const count = Number(rest);
  if (count < 0) return null;
  if (sign === '$' || sign === '=') {
    const value = text.slice(place.at, place.at + count);
    place.at += count + 2;
    return value;
  }
  const items: unknown[] = [];
  for (let item = 0; item < (sign === '%' ? 2 * count : count); item++) items.push(parseAt(text, place));
  return items;
}
