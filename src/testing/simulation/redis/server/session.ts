import type { Reply } from '../resp/reply.js';
import type { RespVersion } from '../resp/resp-writer.js';
import { writeReply } from '../resp/resp-writer.js';

/** A request of a session that waits. */
export interface Waiting {
  readonly keys: readonly string[];
  readonly db: number;
  /** Serves the session if there is something by now. */
  readonly tryServe: () => boolean;
  /** Ends the wait, without an answer. */
  readonly cancel: () => void;
}

/** The state of one connection, or of its scripts. */
export class Session {
  name = '';
  version: RespVersion = 2;
  db = 0;
  /** The requests of a transaction that was begun; `failed` once one was refused. */
  transaction: { readonly requests: string[][]; failed: boolean } | undefined;
  waiting: Waiting | undefined;
  readonly channels = new Set<string>();
  readonly patterns = new Set<string>();
  readonly shardChannels = new Set<string>();
  lastRequest: readonly string[] = [];

  /** @param send writes bytes to the connection */
  constructor(
    readonly id: number,
    private readonly send: (bytes: string) => void,
    readonly close: () => void,
    private readonly hasShortestDoubles: boolean,
  ) {}

  push(reply: Reply): void {
    this.send(this.write(reply));
  }

  /** The bytes of a reply, in the version of the protocol that the session speaks. */
  write(reply: Reply): string {
    return writeReply(reply, { version: this.version, hasShortestDoubles: this.hasShortestDoubles });
  }

  get isSubscribed(): boolean {
    return this.channels.size + this.patterns.size + this.shardChannels.size > 0;
  }
}
