/** Larger than any request here; the server closes the connection of a client that sends more. */
const MOST_ARGUMENTS = 1_048_576;

/** The client broke the protocol; the server answers this and closes the connection. */
export class ProtocolError extends Error {}

/**
 * Takes the requests out of what a client sends: arrays of bulk strings, or one line of words. Bytes are characters.
 */
export class RequestReader {
  private text = '';
  private at = 0;

  push(bytes: string): void {
    this.text = this.text.slice(this.at) + bytes;
    this.at = 0;
  }

  /** The next request that is complete. An empty one is answered with nothing. @throws ProtocolError */
  next(): string[] | undefined {
    const begin = this.at;
    const request = this.text[begin] === '*' ? this.readArray() : this.readLineOfWords();
    if (request === undefined) this.at = begin;
    return request;
  }

  private readArray(): string[] | undefined {
    const count = this.readCount('*', 'invalid multibulk length');
    if (count === undefined) return undefined;
    const items: string[] = [];
    for (let index = 0; index < count; index++) {
      const length = this.readCount('$', 'invalid bulk length');
      if (length === undefined || this.text.length < this.at + length + 2) return undefined;
      items.push(this.text.slice(this.at, this.at + length));
      this.at += length + 2;
    }
    return items;
  }

  private readCount(sign: string, problem: string): number | undefined {
    const line = this.readLine();
    if (line === undefined) return undefined;
    if (!line.startsWith(sign))
      throw new ProtocolError(`ERR Protocol error: expected '${sign}', got '${line[0] ?? ' '}'`);
    const count = Number(line.slice(1));
    if (!Number.isInteger(count) || count > MOST_ARGUMENTS * 512 || (sign === '*' && count > MOST_ARGUMENTS))
      throw new ProtocolError(`ERR Protocol error: ${problem}`);
    return Math.max(count, 0);
  }

  private readLineOfWords(): string[] | undefined {
    const line = this.readLine();
    return line?.split(' ').filter((word) => word !== '');
  }

  private readLine(): string | undefined {
    const end = this.text.indexOf('\n', this.at);
    if (end < 0) return undefined;
    const line = this.text.slice(this.at, this.text[end - 1] === '\r' ? end - 1 : end);
    this.at = end + 1;
    return line;
  }
}
