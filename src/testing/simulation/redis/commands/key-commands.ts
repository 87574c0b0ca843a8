import { matchesGlob } from '../data/glob.js';
import { scanNames } from '../data/scan.js';
import type { DataCommands, DataContext } from './command.js';
import { parseBigInteger, parseInteger } from './command.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, OK, StatusReply, SYNTAX_ERROR } from '../resp/reply.js';

const DEFAULT_COUNT = 10;
const LATEST_MS = 2n ** 63n - 1n;

/** Commands on keys of any type. */
export const KEY_COMMANDS: DataCommands = {
  del: { arity: -2, writes: true, run: deleteKeys },
  unlink: { arity: -2, writes: true, run: deleteKeys },
  exists: {
    arity: -2,
    run: ({ db }, keys) => keys.filter((key) => db.get(key) !== undefined).length,
  },
  type: { arity: 2, run: ({ db }, [key = '']) => new StatusReply(db.get(key)?.type ?? 'none') },
  expire: { arity: -3, writes: true, run: expiring('expire', 1000n, true) },
  pexpire: { arity: -3, writes: true, run: expiring('pexpire', 1n, true) },
  expireat: { arity: -3, writes: true, run: expiring('expireat', 1000n, false) },
  pexpireat: { arity: -3, writes: true, run: expiring('pexpireat', 1n, false) },
  persist: {
    arity: 2,
    writes: true,
    run({ db }, [key = '']) {
      if (db.expiryOf(key) === undefined) return 0;
      db.setExpiry(key, undefined);
      return 1;
    },
  },
  ttl: {
    arity: 2,
    run: (context, [key = '']) => {
      const left = timeLeft(context, key);
      return left < 0 ? left : Math.floor((left + 500) / 1000);
    },
  },
  pttl: { arity: 2, run: (context, [key = '']) => timeLeft(context, key) },
  rename: { arity: 3, writes: true, run: rename },
  keys: {
    arity: 2,
    run: ({ db }, [pattern = '']) => db.keys().filter((key) => matchesGlob(pattern, key)),
  },
  scan: { arity: -2, run: scan },
  dbsize: { arity: 1, run: ({ db }) => db.keys().length },
  flushdb: {
    arity: -1,
    writes: true,
    run({ db }) {
      db.flush();
      return OK;
    },
  },
};

function deleteKeys({ db }: DataContext, keys: readonly string[]): Reply {
  return keys.filter((key) => db.delete(key)).length;
}

function timeLeft({ db, nowMs }: DataContext, key: string): number {
  if (db.get(key) === undefined) return -2;
  const expiry = db.expiryOf(key);
  return expiry === undefined ? -1 : Math.max(expiry - nowMs, 0);
}

function expiring(
  name: string,
  unit: bigint,
  isRelative: boolean,
): (context: DataContext, args: readonly string[]) => Reply {
  return ({ db, nowMs }, [key = '', text, ...options]) => {
    const allowed = expiryCondition(options);
    const at = deadlineOf(name, parseBigInteger(text), unit, isRelative ? BigInt(nowMs) : 0n);
    if (db.get(key) === undefined || !allowed(db.expiryOf(key), Number(at))) return 0;
    if (at <= BigInt(nowMs)) db.delete(key);
    else db.setExpiry(key, Number(at));
    return 1;
  };
}

/** @throws ErrorReply for a time that int64 cannot hold */
export function deadlineOf(name: string, time: bigint, unit: bigint, from: bigint): bigint {
  const at = time * unit + from;
  if (at > LATEST_MS || at < -LATEST_MS) throw new ErrorReply(`ERR invalid expire time in '${name}' command`);
  return at;
}

function expiryCondition(options: readonly string[]): (now: number | undefined, wanted: number) => boolean {
  const flags = new Set(options.map((option) => option.toUpperCase()));
  const unknown = options.find((option) => !['NX', 'XX', 'GT', 'LT'].includes(option.toUpperCase()));
  if (unknown !== undefined) throw new ErrorReply(`ERR Unsupported option ${unknown}`);
  if (flags.has('NX') && flags.size > 1)
    throw new ErrorReply('ERR NX and XX, GT or LT options at the same time are not compatible');
  if (flags.has('GT') && flags.has('LT'))
    throw new ErrorReply('ERR GT and LT options at the same time are not compatible');
  return (now, wanted) => {
    if (flags.has('NX') && now !== undefined) return false;
    if (flags.has('XX') && now === undefined) return false;
    if (flags.has('GT') && !(wanted > (now ?? Infinity))) return false;
    return !flags.has('LT') || wanted < (now ?? Infinity);
  };
}

function rename({ db }: DataContext, [from = '', to = '']: readonly string[]): Reply {
  const value = db.get(from);
  if (value === undefined) throw new ErrorReply('ERR no such key');
  if (from === to) return OK;
  const expiry = db.expiryOf(from);
  db.delete(from);
  db.set(to, value, expiry);
  db.signal(to);
  return OK;
}

/** Reads the words that follow a cursor: `MATCH`, `COUNT` and `TYPE`. @throws ErrorReply */
export function scanOptions(options: readonly string[]): {
  readonly count: number;
  readonly matches: (name: string) => boolean;
  readonly type: string | undefined;
} {
  let count = DEFAULT_COUNT;
  let pattern: string | undefined;
  let type: string | undefined;
  for (let index = 0; index < options.length; index += 2) {
    const value = options[index + 1];
    const option = options[index]?.toUpperCase();
    if (value === undefined) throw new ErrorReply(SYNTAX_ERROR);
    if (option === 'COUNT') count = parseInteger(value);
    else if (option === 'MATCH') pattern = value;
    else if (option === 'TYPE') type = value.toLowerCase();
    else throw new ErrorReply(SYNTAX_ERROR);
    if (count < 1) throw new ErrorReply(SYNTAX_ERROR);
  }
  const wanted = pattern;
  return { count, type, matches: (name) => wanted === undefined || matchesGlob(wanted, name) };
}

export function parseCursor(text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text)) throw new ErrorReply('ERR invalid cursor');
  return Number(text);
}

function scan({ db }: DataContext, [cursor, ...options]: readonly string[]): Reply {
  const start = parseCursor(cursor);
  const { count, matches, type } = scanOptions(options);
  const { found, next } = scanNames(db.keys(), start, count);
  const isWanted = (key: string): boolean =>
    matches(key) && (type === undefined || db.get(key)?.type === type);
  return [String(next), found.filter(isWanted)];
}
