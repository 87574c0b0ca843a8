import { HashValue } from '../data/keyspace.js';
import { scanNames } from '../data/scan.js';
import type { DataCommands, DataContext } from './command.js';
import { pairsFrom, parseBigInteger, wrongCount } from './command.js';
import { parseCursor, scanOptions } from './key-commands.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, MapReply, OK } from '../resp/reply.js';

const INT64 = 2n ** 63n;
/** A hash within these limits is stored in one piece, and scanned in one. */
const MOST_SMALL_ENTRIES = 128;
const LONGEST_SMALL_TEXT = 64;

/** Commands on hashes. */
export const HASH_COMMANDS: DataCommands = {
  hset: {
    arity: -4,
    writes: true,
    needsMemory: true,
    run: (context, args) => setFields(context, args, 'hset'),
  },
  hmset: {
    arity: -4,
    writes: true,
    needsMemory: true,
    run(context, args) {
      setFields(context, args, 'hmset');
      return OK;
    },
  },
  hsetnx: {
    arity: 4,
    writes: true,
    needsMemory: true,
    run({ db }, [key = '', field = '', text = '']) {
      const { fields } = db.typedOrNew(key, HashValue);
      if (fields.has(field)) return 0;
      fields.set(field, text);
      return 1;
    },
  },
  hget: { arity: 3, run: ({ db }, [key = '', field = '']) => hash(db, key)?.get(field) ?? null },
  hmget: {
    arity: -3,
    run({ db }, [key = '', ...names]) {
      const fields = hash(db, key);
      return names.map((name) => fields?.get(name) ?? null);
    },
  },
  hgetall: {
    arity: 2,
    run: ({ db }, [key = '']) => new MapReply([...(hash(db, key) ?? [])].flat()),
  },
  hkeys: { arity: 2, run: ({ db }, [key = '']) => [...(hash(db, key)?.keys() ?? [])] },
  hvals: { arity: 2, run: ({ db }, [key = '']) => [...(hash(db, key)?.values() ?? [])] },
  hlen: { arity: 2, run: ({ db }, [key = '']) => hash(db, key)?.size ?? 0 },
  hexists: { arity: 3, run: ({ db }, [key = '', field = '']) => (hash(db, key)?.has(field) ? 1 : 0) },
  hstrlen: { arity: 3, run: ({ db }, [key = '', field = '']) => hash(db, key)?.get(field)?.length ?? 0 },
  hdel: {
    arity: -3,
    writes: true,
    run({ db }, [key = '', ...names]) {
      const value = db.typed(key, HashValue);
      if (!value) return 0;
      const removed = names.filter((name) => value.fields.delete(name)).length;
      db.dropIfEmpty(key, value);
      return removed;
    },
  },
  hincrby: { arity: 4, writes: true, needsMemory: true, run: increaseField },
  hscan: { arity: -3, run: scanHash },
};

function hash(db: DataContext['db'], key: string): Map<string, string> | undefined {
  return db.typed(key, HashValue)?.fields;
}

function setFields({ db }: DataContext, args: readonly string[], name: string): number {
  if (args.length % 2 === 0) throw wrongCount(name);
  const { fields } = db.typedOrNew(args[0] ?? '', HashValue);
  const before = fields.size;
  for (const [field, text] of pairsFrom(args, 1)) fields.set(field, text);
  return fields.size - before;
}

function increaseField({ db }: DataContext, [key = '', field = '', by]: readonly string[]): Reply {
  const step = parseBigInteger(by);
  const known = hash(db, key)?.get(field);
  const sum = parseBigInteger(known ?? '0', 'ERR hash value is not an integer') + step;
  if (sum >= INT64 || sum < -INT64) throw new ErrorReply('ERR increment or decrement would overflow');
  db.typedOrNew(key, HashValue).fields.set(field, String(sum));
  return sum;
}

function scanHash({ db }: DataContext, [key = '', cursor, ...options]: readonly string[]): Reply {
  const start = parseCursor(cursor);
  const fields = hash(db, key) ?? new Map<string, string>();
  const { count, matches } = scanOptions(options);
  const { found, next } = isSmall(fields)
    ? { found: [...fields.keys()], next: 0 }
    : scanNames([...fields.keys()], start, count);
  return [String(next), found.filter(matches).flatMap((name) => [name, fields.get(name) ?? ''])];
}

function isSmall(fields: ReadonlyMap<string, string>): boolean {
  if (fields.size > MOST_SMALL_ENTRIES) return false;
  for (const [name, text] of fields)
    if (name.length > LONGEST_SMALL_TEXT || text.length > LONGEST_SMALL_TEXT) return false;
  return true;
}
