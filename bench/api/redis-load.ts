import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

const VALUE = 'x'.repeat(2048);
const NEWLINE = '\n'.charCodeAt(0);
const DOLLAR = '$'.charCodeAt(0);

/** Plain SET and GET of values as long as a stored pod, pipelined on one connection as the API server's commands are. */
export class RedisLoad {
  private readonly waiting: (() => void)[] = [];
  private outgoing = '';
  /** Bytes of a value that are still to come. */
  private missing = 0;
  private head = '';

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
  }

  static async open(redisUrl: string): Promise<RedisLoad> {
    const { hostname, password, port } = new URL(redisUrl);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    const load = new RedisLoad(socket);
    await load.command(['AUTH', decodeURIComponent(password)]);
    return load;
  }

  send(command: 'set' | 'get', key: string): Promise<void> {
    return this.command(command === 'set' ? ['SET', key, VALUE] : ['GET', key]);
  }

  private command(words: readonly string[]): Promise<void> {
    if (this.outgoing === '') setImmediate(() => this.flush());
    this.outgoing += `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  close(): void {
    this.socket.destroy();
  }

  private flush(): void {
    this.socket.write(this.outgoing);
    this.outgoing = '';
  }

  private receive(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.missing > 0) {
        const taken = Math.min(this.missing, chunk.length - at);
        this.missing -= taken;
        at += taken;
        if (this.missing === 0) this.waiting.shift()?.();
        continue;
      }
      const end = chunk.indexOf(NEWLINE, at);
      if (end < 0) {
        this.head += chunk.toString('latin1', at);
        return;
      }
      this.begin(this.head + chunk.toString('latin1', at, end + 1));
      this.head = '';
      at = end + 1;
    }
  }

  private begin(line: string): void {
    const isValue = line.charCodeAt(0) === DOLLAR && !line.startsWith('$-1');
    if (isValue) this.missing = Number(line.slice(1)) + 2;
    else this.waiting.shift()?.();
  }
}
