import type { TLSSocket } from 'node:tls';
import { AnswerReader } from './answer-reader.js';
import type { HttpTarget } from './http-connection.js';
import { openSocket, requestText } from './http-connection.js';

const NAME = Buffer.from('"name":"');
const QUOTE = '"'.charCodeAt(0);
const NEWLINE = '\n'.charCodeAt(0);

/**
 * A watch of which nothing is looked at but when the event of each object arrives. Of a line, only the first name is
 * read, which is the object's own; lines are not joined when a part ends in the middle of one but for its rest.
 */
export class WatchConnection {
  private rest: Buffer | undefined;

  private constructor(
    private readonly socket: TLSSocket,
    private readonly onEvent: (name: string) => void,
  ) {}

  /** Resolves once the server has begun to answer. */
  static async open(
    target: HttpTarget,
    path: string,
    onEvent: (name: string) => void,
  ): Promise<WatchConnection> {
    const socket = await openSocket(target);
    const watch = new WatchConnection(socket, onEvent);
    const begun = new Promise<void>((resolve) => socket.once('data', () => resolve()));
    const answer = new AnswerReader();
    answer.onBody = (part) => watch.receive(part);
    socket.on('data', (chunk: Buffer) => answer.read(chunk));
    socket.write(requestText(target, 'GET', path));
    await begun;
    return watch;
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(part: Buffer): void {
    const data = this.rest ? Buffer.concat([this.rest, part]) : part;
    let from = 0;
    for (let end = data.indexOf(NEWLINE, from); end >= 0; end = data.indexOf(NEWLINE, from)) {
      this.onEvent(nameIn(data.subarray(from, end)));
      from = end + 1;
    }
    this.rest = from < data.length ? data.subarray(from) : undefined;
  }
}

function nameIn(line: Buffer): string {
  const start = line.indexOf(NAME) + NAME.length;
  return line.toString('latin1', start, line.indexOf(QUOTE, start));
}
