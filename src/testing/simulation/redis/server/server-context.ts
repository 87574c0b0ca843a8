import type { DataContext } from '../commands/command.js';
import type { Reply } from '../resp/reply.js';
import { StatusReply } from '../resp/reply.js';
import type { Session, Waiting } from './session.js';
import type { ServerFacts } from './server-facts.js';

/** The answer has been sent by the command itself, or is sent later. */
export const NO_REPLY: Reply = new StatusReply('no reply');

/** The parts of the server that its own commands use. */
export interface ServerParts {
  readonly facts: ServerFacts;
  readonly nowUs: () => number;
  sessions(): readonly Session[];
  wait(session: Session, waiting: Omit<Waiting, 'cancel'>, timeoutMs: number, onTimeout: () => void): void;
  /** Called with the answer to the last request of a session, before it is sent. */
  answered(session: Session, reply: Reply): void;
  flushAll(): void;
  loadScript(source: string): string;
  hasScript(sha: string): boolean;
  forgetScripts(): void;
  runScript(context: ServerContext, sha: string, args: readonly string[], isReadOnly: boolean): Reply;
  /** Carries out the requests of a transaction. */
  executeAll(session: Session, requests: readonly string[][]): Reply;
}

export interface ServerContext extends DataContext {
  readonly server: ServerParts;
  readonly session: Session;
  /** In a script or a transaction, which wait for nothing. */
  readonly isNested: boolean;
}
