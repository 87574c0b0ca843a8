import type { CommandTable } from '../commands/command.js';
import { parseDouble, parseInteger } from '../commands/command.js';
import { entriesReply, parseId } from '../commands/stream-commands.js';
import { SortedSet } from '../data/sorted-set.js';
import type { StreamId } from '../data/stream-entry.js';
import { Stream } from '../data/stream.js';
import type { Reply } from '../resp/reply.js';
import { DoubleReply, ErrorReply, MapReply, NULL_ARRAY, SYNTAX_ERROR } from '../resp/reply.js';
import type { ServerContext } from './server-context.js';
import { NO_REPLY } from './server-context.js';

/** Commands that wait until a key has something for them. */
export const BLOCKING_COMMANDS: CommandTable<ServerContext> = {
  bzpopmin: { arity: -3, writes: true, noScript: true, run: (context, args) => pop(context, args, 'min') },
  bzpopmax: { arity: -3, writes: true, noScript: true, run: (context, args) => pop(context, args, 'max') },
  xread: { arity: -4, run: read },
};

/** @returns what the command answers now, or nothing while it waits */
function serveOrWait(
  context: ServerContext,
  keys: readonly string[],
  timeoutMs: number,
  find: () => Reply | undefined,
): Reply {
  const found = find();
  if (found !== undefined) return found;
  if (context.isNested) return NULL_ARRAY;
  const { server, session } = context;
  const tryServe = (): boolean => {
    const reply = find();
    if (reply === undefined) return false;
    server.answered(session, reply);
    session.push(reply);
    return true;
  };
  server.wait(session, { keys, db: session.db, tryServe }, timeoutMs, () => session.push(NULL_ARRAY));
  return NO_REPLY;
}

function pop(context: ServerContext, args: readonly string[], end: 'min' | 'max'): Reply {
  const { db } = context;
  const keys = args.slice(0, -1);
  const seconds = parseDouble(args.at(-1), 'ERR timeout is not a float or out of range');
  if (seconds < 0) throw new ErrorReply('ERR timeout is negative');
  for (const key of keys) db.typed(key, SortedSet);
  return serveOrWait(context, keys, Math.ceil(seconds * 1000), () => {
    for (const key of keys) {
      const set = db.get(key);
      if (!(set instanceof SortedSet)) continue;
      const [entry] = end === 'min' ? set.entries(0, 1) : set.entries(set.size - 1);
      if (!entry) continue;
      set.delete(entry.member);
      db.dropIfEmpty(key, set);
      return [key, entry.member, new DoubleReply(entry.score)];
    }
    return undefined;
  });
}

interface Read {
  readonly count: number;
  /** Milliseconds; undefined: no waiting. */
  readonly blockMs: number | undefined;
  readonly keys: readonly string[];
  readonly ids: readonly string[];
}

function read(context: ServerContext, args: readonly string[]): Reply {
  const { db } = context;
  const { blockMs, count, ids, keys } = parseRead(args);
  const after = keys.map((key, index): StreamId => {
    const stream = db.typed(key, Stream);
    return ids[index] === '$' ? (stream?.lastId ?? { ms: 0, seq: 0 }) : parseId(ids[index], 0);
  });
  const find = (): Reply | undefined => {
    const found = keys.flatMap((key, index): Reply[] => {
      const stream = db.get(key);
      const id = after[index];
      const entries = stream instanceof Stream && id ? stream.after(id, count) : [];
      return entries.length === 0 ? [] : [[key, entriesReply(entries)]];
    });
    return found.length === 0 ? undefined : readReply(context, found);
  };
  if (blockMs === undefined) return find() ?? NULL_ARRAY;
  return serveOrWait(context, keys, blockMs, find);
}

/** Pairs of keys and entries: a map in RESP3. */
function readReply({ session }: ServerContext, found: readonly Reply[]): Reply {
  return session.version === 3 ? new MapReply(found.flat()) : found;
}

function parseRead(args: readonly string[]): Read {
  let count = Infinity;
  let blockMs: number | undefined;
  for (let index = 0; index < args.length; index += 2) {
    const option = args[index]?.toUpperCase();
    const value = args[index + 1];
    if (option === 'STREAMS') {
      const rest = args.slice(index + 1);
      if (rest.length === 0 || rest.length % 2 !== 0)
        throw new ErrorReply(
          "ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified.",
        );
      return { blockMs, count, keys: rest.slice(0, rest.length / 2), ids: rest.slice(rest.length / 2) };
    }
    if (option === 'COUNT') {
      const asked = parseInteger(value);
      count = asked > 0 ? asked : Infinity;
    } else if (option === 'BLOCK')
      blockMs = parseInteger(value, 'ERR timeout is not an integer or out of range');
    else throw new ErrorReply(SYNTAX_ERROR);
    if (blockMs !== undefined && blockMs < 0) throw new ErrorReply('ERR timeout is negative');
  }
  throw new ErrorReply(SYNTAX_ERROR);
}
