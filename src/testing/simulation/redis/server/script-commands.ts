import type { CommandTable } from '../commands/command.js';
import { parseInteger } from '../commands/command.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, OK } from '../resp/reply.js';
import type { ServerContext } from './server-context.js';

/** Scripts that are sent, stored and run. */
export const SCRIPT_COMMANDS: CommandTable<ServerContext> = {
  eval: { arity: -3, noScript: true, run: (context, args) => evaluate(context, args, false) },
  eval_ro: { arity: -3, noScript: true, run: (context, args) => evaluate(context, args, true) },
  evalsha: { arity: -3, noScript: true, run: (context, args) => evaluateStored(context, args, false) },
  evalsha_ro: { arity: -3, noScript: true, run: (context, args) => evaluateStored(context, args, true) },
  script: {
    arity: -2,
    noScript: true,
    run({ server }, [name = '', ...args]) {
      switch (name.toUpperCase()) {
        case 'LOAD':
          return server.loadScript(args[0] ?? '');
        case 'EXISTS':
          return args.map((sha) => (server.hasScript(sha.toLowerCase()) ? 1 : 0));
        case 'FLUSH':
          server.forgetScripts();
          return OK;
        default:
          throw new ErrorReply(`ERR unknown subcommand '${name}'. Try SCRIPT HELP.`);
      }
    },
  },
};

function evaluate(context: ServerContext, args: readonly string[], isReadOnly: boolean): Reply {
  checkKeys(args);
  return context.server.runScript(context, context.server.loadScript(args[0] ?? ''), args, isReadOnly);
}

function evaluateStored(context: ServerContext, args: readonly string[], isReadOnly: boolean): Reply {
  checkKeys(args);
  const sha = (args[0] ?? '').toLowerCase();
  if (!context.server.hasScript(sha)) throw new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
  return context.server.runScript(context, sha, args, isReadOnly);
}

function checkKeys(args: readonly string[]): void {
  const count = parseInteger(args[1]);
  if (count > args.length - 2)
    throw new ErrorReply("ERR Number of keys can't be greater than number of args");
  if (count < 0) throw new ErrorReply("ERR Number of keys can't be negative");
}
