import type { CommandTable } from '../commands/command.js';
import { parseInteger, wrongCount } from '../commands/command.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, MapReply, OK, StatusReply, SYNTAX_ERROR, VerbatimReply } from '../resp/reply.js';
import type { ServerContext } from './server-context.js';
import { NO_REPLY } from './server-context.js';
import { infoText } from './server-facts.js';
import type { Session } from './session.js';

const DATABASES = 16;

/** Commands on connections, transactions and the server itself. */
export const CONNECTION_COMMANDS: CommandTable<ServerContext> = {
  hello: { arity: -1, noScript: true, whileLoading: true, run: hello },
  ping: {
    arity: -1,
    whileLoading: true,
    run({ session }, args) {
      if (args.length > 1) throw wrongCount('ping');
      if (session.version === 2 && session.isSubscribed) return ['pong', args[0] ?? ''];
      return args[0] ?? new StatusReply('PONG');
    },
  },
  echo: { arity: 2, whileLoading: true, run: (_context, [text = '']) => text },
  select: {
    arity: 2,
    whileLoading: true,
    run({ session }, [text]) {
      const db = parseInteger(text, 'ERR invalid DB index');
      if (db < 0 || db >= DATABASES) throw new ErrorReply('ERR DB index is out of range');
      session.db = db;
      return OK;
    },
  },
  quit: {
    arity: -1,
    noScript: true,
    whileLoading: true,
    run({ session }) {
      session.push(OK);
      session.close();
      return NO_REPLY;
    },
  },
  client: { arity: -2, noScript: true, whileLoading: true, run: client },
  info: {
    arity: -1,
    whileLoading: true,
    run: ({ server }, sections) =>
      new VerbatimReply(
        infoText(
          server.facts,
          sections.map((name) => name.toLowerCase()),
          server.sessions().length,
        ),
      ),
  },
  time: {
    arity: 1,
    whileLoading: true,
    run({ server }) {
      const us = server.nowUs();
      return [String(Math.floor(us / 1e6)), String(us % 1e6)];
    },
  },
  role: {
    arity: 1,
    noScript: true,
    whileLoading: true,
    run: ({ server }) =>
      server.facts.faults.readOnly ? ['slave', 'simulated', 6379, 'connected', 0] : ['master', 0, []],
  },
  wait: { arity: 3, noScript: true, run: () => 0 },
  flushall: {
    arity: -1,
    writes: true,
    run({ server }) {
      server.flushAll();
      return OK;
    },
  },
  multi: {
    arity: 1,
    noScript: true,
    whileLoading: true,
    run({ session }) {
      if (session.transaction) throw new ErrorReply('ERR MULTI calls can not be nested');
      session.transaction = { requests: [], failed: false };
      return OK;
    },
  },
  exec: {
    arity: 1,
    noScript: true,
    whileLoading: true,
    run({ server, session }) {
      const { transaction } = session;
      if (!transaction) throw new ErrorReply('ERR EXEC without MULTI');
      session.transaction = undefined;
      if (transaction.failed)
        throw new ErrorReply('EXECABORT Transaction discarded because of previous errors.');
      return server.executeAll(session, transaction.requests);
    },
  },
  discard: {
    arity: 1,
    noScript: true,
    whileLoading: true,
    run({ session }) {
      if (!session.transaction) throw new ErrorReply('ERR DISCARD without MULTI');
      session.transaction = undefined;
      return OK;
    },
  },
};

function hello({ server, session }: ServerContext, [wanted, ...options]: readonly string[]): Reply {
  if (wanted !== undefined) {
    const version = parseInteger(wanted, 'ERR Protocol version is not an integer or out of range');
    if (version !== 2 && version !== 3) throw new ErrorReply('NOPROTO unsupported protocol version');
    for (let index = 0; index < options.length; index++) {
      if (options[index]?.toUpperCase() !== 'SETNAME' || options[index + 1] === undefined)
        throw new ErrorReply(`ERR Syntax error in HELLO option '${options[index]}'`);
      session.name = options[++index] ?? '';
    }
    session.version = version;
  }
  return new MapReply([
    ...['server', 'redis', 'version', server.facts.version],
    ...['proto', session.version, 'id', session.id],
    ...['mode', 'standalone', 'role', server.facts.faults.readOnly ? 'replica' : 'master'],
    ...['modules', []],
  ]);
}

function client(context: ServerContext, [name = '', ...args]: readonly string[]): Reply {
  const { server, session } = context;
  switch (name.toUpperCase()) {
    case 'ID':
      return session.id;
    case 'SETNAME':
      session.name = args[0] ?? '';
      return OK;
    case 'GETNAME':
      return session.name === '' ? null : session.name;
    case 'INFO':
      return new VerbatimReply(describe(session));
    case 'LIST':
      return new VerbatimReply(server.sessions().map(describe).join(''));
    case 'KILL':
      return kill(context, args);
    default:
      throw new ErrorReply(`ERR unknown subcommand '${name}'. Try CLIENT HELP.`);
  }
}

function describe(session: Session): string {
  const { channels, db, id, lastRequest, patterns, shardChannels, version } = session;
  const counts = `sub=${channels.size} psub=${patterns.size} ssub=${shardChannels.size}`;
  const multi = session.transaction ? session.transaction.requests.length : -1;
  return `id=${id} addr=simulated:${id} name=${session.name} db=${db} ${counts} multi=${multi} cmd=${lastRequest[0]?.toLowerCase() ?? ''} resp=${version}\n`;
}

function kill({ server }: ServerContext, args: readonly string[]): Reply {
  if (args[0]?.toUpperCase() !== 'ID' || args.length !== 2) throw new ErrorReply(SYNTAX_ERROR);
  const killed = server.sessions().filter(({ id }) => String(id) === args[1]);
  for (const each of killed) each.close();
  return killed.length;
}
