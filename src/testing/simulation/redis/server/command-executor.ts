import type { CommandSpec, CommandTable } from '../commands/command.js';
import { wrongCount } from '../commands/command.js';
import { HASH_COMMANDS } from '../commands/hash-commands.js';
import { KEY_COMMANDS } from '../commands/key-commands.js';
import { LIST_COMMANDS } from '../commands/list-commands.js';
import { SET_COMMANDS } from '../commands/set-commands.js';
import { SORTED_SET_COMMANDS } from '../commands/sorted-set-commands.js';
import { STREAM_COMMANDS } from '../commands/stream-commands.js';
import { TEXT_COMMANDS } from '../commands/text-commands.js';
import { ErrorReply, QUEUED } from '../resp/reply.js';
import type { Reply } from '../resp/reply.js';
import { BLOCKING_COMMANDS } from './blocking-commands.js';
import { CONNECTION_COMMANDS } from './connection-commands.js';
import { PUBSUB_COMMANDS } from './pubsub-commands.js';
import { SCRIPT_COMMANDS } from './script-commands.js';
import type { ServerContext } from './server-context.js';
import type { ServerFaults } from './server-facts.js';
import type { Session } from './session.js';

const COMMANDS = new Map(
  Object.entries({
    ...KEY_COMMANDS,
    ...TEXT_COMMANDS,
    ...HASH_COMMANDS,
    ...LIST_COMMANDS,
    ...SET_COMMANDS,
    ...SORTED_SET_COMMANDS,
    ...STREAM_COMMANDS,
    ...CONNECTION_COMMANDS,
    ...PUBSUB_COMMANDS,
    ...BLOCKING_COMMANDS,
    ...SCRIPT_COMMANDS,
  } satisfies CommandTable<ServerContext>),
);

const IN_TRANSACTION_AT_ONCE = new Set(['exec', 'discard', 'multi', 'quit']);
const WHILE_SUBSCRIBED = new Set([
  ...['subscribe', 'unsubscribe', 'psubscribe', 'punsubscribe', 'ssubscribe', 'sunsubscribe'],
  ...['ping', 'quit', 'reset'],
]);
const MOST_SHOWN = 128;

export const FULL = "OOM command not allowed when used memory > 'maxmemory'.";
export const READ_ONLY = "READONLY You can't write against a read only replica.";
export const DISK_FAILED =
  "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.";

/** Carries out or queues a request of a connection. @throws ErrorReply */
export function executeRequest(context: ServerContext, request: readonly string[]): Reply {
  const { session } = context;
  const name = (request[0] ?? '').toLowerCase();
  session.lastRequest = request;
  try {
    const spec = specOf(request);
    refuse(spec, context.server.facts.faults);
    if (session.version === 2 && session.isSubscribed && !WHILE_SUBSCRIBED.has(name))
      throw new ErrorReply(
        `ERR Can't execute '${name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`,
      );
    if (session.transaction && !IN_TRANSACTION_AT_ONCE.has(name)) {
      session.transaction.requests.push([...request]);
      return QUEUED;
    }
    return spec.run(context, request.slice(1));
  } catch (error) {
    if (error instanceof ErrorReply) failTransaction(session, name);
    throw error;
  }
}

function failTransaction(session: Session, name: string): void {
  if (session.transaction && !IN_TRANSACTION_AT_ONCE.has(name)) session.transaction.failed = true;
}

/** The command that a request names. @throws ErrorReply if there is none, or it takes another number of arguments */
export function specOf(request: readonly string[]): CommandSpec<ServerContext> {
  const [written = '', ...args] = request;
  const name = written.toLowerCase();
  const spec = COMMANDS.get(name);
  if (!spec) {
    let shown = '';
    for (const arg of args) {
      if (shown.length >= MOST_SHOWN) break;
      // As C prints it: up to a zero byte.
      const [printed = ''] = arg.slice(0, MOST_SHOWN - shown.length).split('\0', 1);
      shown += `'${printed}' `;
    }
    throw new ErrorReply(
      `ERR unknown command '${written.slice(0, MOST_SHOWN)}', with args beginning with: ${shown}`,
    );
  }
  const isRight = spec.arity >= 0 ? request.length === spec.arity : request.length >= -spec.arity;
  if (!isRight) throw wrongCount(name);
  return spec;
}

function refuse(spec: CommandSpec<ServerContext>, faults: ServerFaults): void {
  if (faults.full && spec.needsMemory) throw new ErrorReply(FULL);
  if (faults.diskFailed && spec.writes) throw new ErrorReply(DISK_FAILED);
  if (faults.readOnly && spec.writes) throw new ErrorReply(READ_ONLY);
  if (faults.loading && !spec.whileLoading)
    throw new ErrorReply('LOADING Redis is loading the dataset in memory');
}
