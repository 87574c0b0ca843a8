import { TextValue } from '../data/keyspace.js';
import type { DataCommands, DataContext } from './command.js';
import { pairsFrom, parseBigInteger, wrongCount } from './command.js';
import { deadlineOf } from './key-commands.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, OK, SYNTAX_ERROR } from '../resp/reply.js';

const INT64 = 2n ** 63n;

/** Commands on strings. */
export const TEXT_COMMANDS: DataCommands = {
  get: { arity: 2, run: ({ db }, [key = '']) => db.typed(key, TextValue)?.text ?? null },
  set: { arity: -3, writes: true, needsMemory: true, run: set },
  setnx: {
    arity: 3,
    writes: true,
    needsMemory: true,
    run({ db }, [key = '', text = '']) {
      if (db.get(key) !== undefined) return 0;
      db.set(key, new TextValue(text));
      return 1;
    },
  },
  mget: {
    arity: -2,
    run: ({ db }, keys) =>
      keys.map((key) => {
        const value = db.get(key);
        return value instanceof TextValue ? value.text : null;
      }),
  },
  mset: {
    arity: -3,
    writes: true,
    needsMemory: true,
    run({ db }, args) {
      if (args.length % 2 !== 0) throw wrongCount('mset');
      for (const [key, text] of pairsFrom(args, 0)) db.set(key, new TextValue(text));
      return OK;
    },
  },
  incr: { arity: 2, writes: true, needsMemory: true, run: (context, [key]) => increase(context, key, 1n) },
  decr: { arity: 2, writes: true, needsMemory: true, run: (context, [key]) => increase(context, key, -1n) },
  incrby: {
    arity: 3,
    writes: true,
    needsMemory: true,
    run: (context, [key, by]) => increase(context, key, parseBigInteger(by)),
  },
  strlen: { arity: 2, run: ({ db }, [key = '']) => db.typed(key, TextValue)?.text.length ?? 0 },
};

interface SetOptions {
  readonly condition?: 'NX' | 'XX';
  readonly returnsOld: boolean;
  readonly keepsExpiry: boolean;
  readonly expiresAtMs?: bigint;
}

const EXPIRY_UNITS: Readonly<Record<string, readonly [unit: bigint, isRelative: boolean]>> = {
  EX: [1000n, true],
  PX: [1n, true],
  EXAT: [1000n, false],
  PXAT: [1n, false],
};

function set({ db, nowMs }: DataContext, [key = '', text = '', ...rest]: readonly string[]): Reply {
  const { condition, expiresAtMs, keepsExpiry, returnsOld } = parseSetOptions(rest, BigInt(nowMs));
  const old = returnsOld ? (db.typed(key, TextValue)?.text ?? null) : null;
  const isThere = db.get(key) !== undefined;
  if ((condition === 'NX' && isThere) || (condition === 'XX' && !isThere)) return old;
  const expiry = keepsExpiry ? db.expiryOf(key) : expiresAtMs === undefined ? undefined : Number(expiresAtMs);
  db.set(key, new TextValue(text), expiry);
  return returnsOld ? old : OK;
}

function parseSetOptions(words: readonly string[], now: bigint): SetOptions {
  let options: SetOptions = { returnsOld: false, keepsExpiry: false };
  let hasExpiry = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]?.toUpperCase() ?? '';
    const unit = EXPIRY_UNITS[word];
    if ((word === 'NX' || word === 'XX') && options.condition === undefined)
      options = { ...options, condition: word };
    else if (word === 'GET') options = { ...options, returnsOld: true };
    else if (word === 'KEEPTTL' && !hasExpiry) {
      options = { ...options, keepsExpiry: true };
      hasExpiry = true;
    } else if (unit && !hasExpiry && index + 1 < words.length) {
      options = { ...options, expiresAtMs: setDeadline(words[++index], unit, now) };
      hasExpiry = true;
    } else throw new ErrorReply(SYNTAX_ERROR);
  }
  return options;
}

function setDeadline(
  text: string | undefined,
  [unit, isRelative]: readonly [bigint, boolean],
  now: bigint,
): bigint {
  const time = parseBigInteger(text);
  if (time <= 0n) throw new ErrorReply("ERR invalid expire time in 'set' command");
  return deadlineOf('set', time, unit, isRelative ? now : 0n);
}

function increase({ db }: DataContext, key = '', by: bigint): Reply {
  const value = db.typed(key, TextValue);
  const sum = parseBigInteger(value?.text ?? '0') + by;
  if (sum >= INT64 || sum < -INT64) throw new ErrorReply('ERR increment or decrement would overflow');
  if (value) value.text = String(sum);
  else db.set(key, new TextValue(String(sum)));
  return sum;
}
