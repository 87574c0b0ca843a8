const HEADERS_END = '\r\n\r\n';
const LINE_END = '\r\n';

/**
 * Reads the answers of one HTTP/1.1 connection, one at a time, for next to nothing: nothing is looked at but their status
 * and how long they are, by a length or in chunks.
 */
export class AnswerReader {
  /** Gets the body of the next answer, as it comes. */
  onBody: ((part: Buffer) => void) | undefined;
  private status = 0;
  private state: 'head' | 'body' | 'chunk-size' | 'chunk' | 'trailer' = 'head';
  /** Bytes of the body, or of the chunk and its line end, that are still to come. */
  private missing = 0;
  /** The beginning of a head or line whose end has not come yet. */
  private rest: Buffer | undefined;

  /** @param onAnswer told the status of each answer when it has come whole */
  constructor(private readonly onAnswer: (status: number) => void = () => undefined) {}

  /** @throws Error for an answer whose end nothing tells */
  read(received: Buffer): void {
    let data: Buffer | undefined = this.rest ? Buffer.concat([this.rest, received]) : received;
    this.rest = undefined;
    while (data && data.length > 0) data = this.step(data);
  }

  /** Reads one part. @returns what comes after it; undefined when more has to come first */
  private step(data: Buffer): Buffer | undefined {
    switch (this.state) {
      case 'head':
        return this.line(data, HEADERS_END, (head) => this.begin(head));
      case 'chunk-size':
        return this.line(data, LINE_END, (size) => this.beginChunk(size));
      case 'trailer':
        return this.line(data, LINE_END, (line) => line === '' && this.finish());
      case 'body':
      case 'chunk':
        return this.take(data);
    }
  }

  private line(data: Buffer, ending: string, use: (text: string) => unknown): Buffer | undefined {
    const end = data.indexOf(ending);
    if (end < 0) {
      this.rest = data;
      return undefined;
    }
    use(data.toString('latin1', 0, end));
    return data.subarray(end + ending.length);
  }

  private begin(head: string): void {
    this.status = Number(head.slice(9, 12));
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    if (length !== undefined) {
      this.missing = Number(length);
      this.state = 'body';
      if (this.missing === 0) this.finish();
    } else if (/^transfer-encoding: *chunked/im.test(head)) this.state = 'chunk-size';
    else if (this.status === 204 || this.status === 304) this.finish();
    else throw new Error(`an answer of which nothing tells the end: ${head}`);
  }

  private beginChunk(line: string): void {
    const size = parseInt(line, 16);
    if (Number.isNaN(size)) throw new Error(`a chunk without a size: ${line}`);
    this.missing = size + LINE_END.length;
    this.state = size === 0 ? 'trailer' : 'chunk';
  }

  private take(data: Buffer): Buffer {
    const length = Math.min(this.missing, data.length);
    if (this.onBody) this.pass(data, length, this.onBody);
    this.missing -= length;
    if (this.missing === 0) {
      if (this.state === 'body') this.finish();
      else this.state = 'chunk-size';
    }
    return data.subarray(length);
  }

  /** All of a body; of a chunk, not the line end behind it. */
  private pass(data: Buffer, length: number, onBody: (part: Buffer) => void): void {
    const ending = this.state === 'chunk' ? LINE_END.length : 0;
    const end = Math.min(length, this.missing - ending);
    if (end > 0) onBody(data.subarray(0, end));
  }

  private finish(): void {
    this.state = 'head';
    this.onAnswer(this.status);
  }
}
