import type { ServerEnd, SimulatedConnection } from '../network/simulated-connection.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply } from '../resp/reply.js';
import { ProtocolError, RequestReader } from '../resp/request-reader.js';
import { NO_REPLY } from './server-context.js';
import { Session } from './session.js';

export interface ServerConnectionOptions {
  readonly hasShortestDoubles: boolean;
  readonly execute: (session: Session, request: readonly string[]) => Reply;
  readonly closed: (session: Session) => void;
}

/** Reads the requests of one client, one after the other; while one waits, those that follow it wait as well. */
export class ServerConnection implements ServerEnd {
  readonly session: Session;
  private readonly reader = new RequestReader();
  private isClosed = false;
  private isBusy = false;

  constructor(
    connection: SimulatedConnection,
    private readonly options: ServerConnectionOptions,
  ) {
    this.session = new Session(
      connection.id,
      (bytes) => connection.reply(bytes),
      () => connection.finish(),
      options.hasShortestDoubles,
    );
  }

  receive(bytes: string): void {
    this.reader.push(bytes);
    this.proceed();
  }

  closed(): void {
    this.isClosed = true;
    this.options.closed(this.session);
  }

  /** Carries out the requests that are complete. */
  proceed(): void {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (!this.isClosed && !this.session.waiting) {
        const request = this.nextRequest();
        if (!request) return;
        if (request.length === 0) continue;
        const reply = this.options.execute(this.session, request);
        if (reply !== NO_REPLY) this.session.push(reply);
      }
    } finally {
      this.isBusy = false;
    }
  }

  private nextRequest(): string[] | undefined {
    try {
      return this.reader.next();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.session.push(new ErrorReply(error.message));
      this.session.close();
      return undefined;
    }
  }
}
