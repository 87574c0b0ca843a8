import type { StreamEntry, StreamId } from '../data/stream-entry.js';
import { compareIds, formatId } from '../data/stream-entry.js';
import { Stream } from '../data/stream.js';
import type { DataCommands, DataContext } from './command.js';
import { parseInteger, wrongCount } from './command.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, NULL_ARRAY, SYNTAX_ERROR } from '../resp/reply.js';

const BAD_ID = 'ERR Invalid stream ID specified as stream command argument';
const APPROXIMATE_LIMIT = 10_000;
const LAST_ID: StreamId = { ms: Infinity, seq: Infinity };

/** Commands on streams, without the one that blocks. */
export const STREAM_COMMANDS: DataCommands = {
  xadd: { arity: -5, writes: true, needsMemory: true, run: add },
  xlen: { arity: 2, run: ({ db }, [key = '']) => db.typed(key, Stream)?.size ?? 0 },
  xrange: {
    arity: -4,
    run: (context, [key, from, to, ...rest]) => range(context, key, from, to, rest, false),
  },
  xrevrange: {
    arity: -4,
    run: (context, [key, to, from, ...rest]) => range(context, key, from, to, rest, true),
  },
  xdel: {
    arity: -3,
    writes: true,
    run({ db }, [key = '', ...texts]) {
      const stream = db.typed(key, Stream);
      if (!stream) return 0;
      return texts.map((text) => parseId(text, 0)).filter((id) => stream.delete(id)).length;
    },
  },
  xtrim: {
    arity: -4,
    writes: true,
    run({ db }, [key = '', ...words]) {
      const { next, trim } = parseTrim(words, 0);
      if (!trim || next !== words.length) throw new ErrorReply(SYNTAX_ERROR);
      const stream = db.typed(key, Stream);
      return stream ? trim(stream) : 0;
    },
  },
};

export function entriesReply(entries: readonly StreamEntry[]): Reply[] {
  return entries.map((entry) => [formatId(entry), entry.fields]);
}

/** @param seq of an id that has no second part @throws ErrorReply */
export function parseId(text: string | undefined, seq: number): StreamId {
  const [, ms, part] = /^(\d{1,20})(?:-(\d{1,20}))?$/.exec(text ?? '') ?? [];
  if (ms === undefined) throw new ErrorReply(BAD_ID);
  return { ms: Number(ms), seq: part === undefined ? seq : Number(part) };
}

type Trim = (stream: Stream) => number;

/** Reads `MAXLEN|MINID [=|~] threshold [LIMIT count]` if it stands there. */
function parseTrim(words: readonly string[], from: number): { readonly trim?: Trim; readonly next: number } {
  const kind = words[from]?.toUpperCase();
  if (kind !== 'MAXLEN' && kind !== 'MINID') return { next: from };
  const sign = words[from + 1];
  const isSigned = sign === '~' || sign === '=';
  const isApproximate = sign === '~';
  const at = from + (isSigned ? 2 : 1);
  const threshold = words[at];
  if (threshold === undefined) throw new ErrorReply(SYNTAX_ERROR);
  const hasLimit = words[at + 1]?.toUpperCase() === 'LIMIT';
  if (hasLimit && !isApproximate)
    throw new ErrorReply('ERR syntax error, LIMIT cannot be used without the special ~ option');
  const asked = hasLimit ? parseInteger(words[at + 2]) : APPROXIMATE_LIMIT;
  const limit = isApproximate && asked > 0 ? asked : Infinity;
  return { next: at + (hasLimit ? 3 : 1), trim: trimOf(kind, threshold, isApproximate, limit) };
}

function trimOf(kind: string, threshold: string, isApproximate: boolean, limit: number): Trim {
  if (kind === 'MINID') {
    const id = parseId(threshold, 0);
    return (stream) => stream.trimBefore(id, isApproximate, limit);
  }
  const length = parseInteger(threshold);
  if (length < 0) throw new ErrorReply('ERR The MAXLEN argument must be >= 0.');
  return (stream) => stream.trimToLength(length, isApproximate, limit);
}

function add({ db, nowMs }: DataContext, [key = '', ...words]: readonly string[]): Reply {
  let from = 0;
  let creates = true;
  let trim: Trim | undefined;
  for (;;) {
    const parsed = parseTrim(words, from);
    if (parsed.trim) ({ trim } = parsed);
    else if (words[from]?.toUpperCase() === 'NOMKSTREAM') creates = false;
    else break;
    from = parsed.trim ? parsed.next : from + 1;
  }
  const [idText = '', ...fields] = words.slice(from);
  const asked = parseNewId(idText);
  if (fields.length === 0 || fields.length % 2 !== 0) throw wrongCount('xadd');
  if (asked.seq === 0 && asked.ms === 0)
    throw new ErrorReply('ERR The ID specified in XADD must be greater than 0-0');
  if (!creates && !db.typed(key, Stream)) return null;
  const last = db.typed(key, Stream)?.lastId ?? { ms: 0, seq: 0 };
  const id = newId(asked, last, nowMs);
  const stream = db.typedOrNew(key, Stream);
  stream.append({ ...id, fields });
  trim?.(stream);
  db.signal(key);
  return formatId(id);
}

interface AskedId {
  /** Absent: the server's time. */
  readonly ms?: number;
  /** Absent: the next one. */
  readonly seq?: number;
}

function parseNewId(text: string): AskedId {
  if (text === '*') return {};
  const [, open] = /^(\d{1,20})-\*$/.exec(text) ?? [];
  return open === undefined ? parseId(text, 0) : { ms: Number(open) };
}

function newId(asked: AskedId, last: StreamId, nowMs: number): StreamId {
  const ms = asked.ms ?? Math.max(nowMs, last.ms);
  const seq = asked.seq ?? (ms === last.ms ? last.seq + 1 : 0);
  const id = { ms, seq };
  if (compareIds(id, last) > 0) return id;
  throw new ErrorReply('ERR The ID specified in XADD is equal or smaller than the target stream top item');
}

function range(
  { db }: DataContext,
  key = '',
  from: string | undefined,
  to: string | undefined,
  options: readonly string[],
  isReverse: boolean,
): Reply {
  const [start, end] = [parseEnd(from, false), parseEnd(to, true)];
  const count = parseCount(options);
  const stream = db.typed(key, Stream);
  if (!stream) return [];
  if (count === 0) return NULL_ARRAY;
  const found = isReverse
    ? [...stream.range(start, end)].reverse().slice(0, count)
    : stream.range(start, end, count);
  return entriesReply(found);
}

function parseCount(options: readonly string[]): number {
  if (options.length === 0) return Infinity;
  if (options.length !== 2 || options[0]?.toUpperCase() !== 'COUNT') throw new ErrorReply(SYNTAX_ERROR);
  return Math.max(parseInteger(options[1]), 0);
}

function parseEnd(text: string | undefined, isEnd: boolean): StreamId {
  if (text === '-') return { ms: 0, seq: 0 };
  if (text === '+') return LAST_ID;
  const isExclusive = text?.startsWith('(') ?? false;
  const id = parseId(isExclusive ? text?.slice(1) : text, isEnd ? Infinity : 0);
  if (!isExclusive) return id;
  if (!isEnd) return { ms: id.ms, seq: id.seq + 1 };
  return id.seq === 0 ? { ms: id.ms - 1, seq: Infinity } : { ms: id.ms, seq: id.seq - 1 };
}
