import type { RangeEnd, ScoredMember } from '../data/sorted-set.js';
import { SortedSet } from '../data/sorted-set.js';
import type { DataCommands, DataContext } from './command.js';
import { parseDouble, parseInteger, placesOf } from './command.js';
import type { Reply } from '../resp/reply.js';
import { DoubleReply, ErrorReply, PairsReply, SYNTAX_ERROR } from '../resp/reply.js';

type Places = readonly [from: number, to: number];
type PlacesIn = (set: SortedSet) => Places;

/** Commands that read or remove a stretch of a sorted set. */
export const RANGE_COMMANDS: DataCommands = {
  zrange: { arity: -4, run: (context, args) => range(context, parseRange(args)) },
  zrevrange: { arity: -4, run: (context, args) => range(context, parseOld(args, 'rank', true)) },
  zrangebyscore: { arity: -4, run: (context, args) => range(context, parseOld(args, 'score', false)) },
  zrevrangebyscore: { arity: -4, run: (context, args) => range(context, parseOld(args, 'score', true)) },
  zrangebylex: { arity: -4, run: (context, args) => range(context, parseOld(args, 'lex', false)) },
  zrevrangebylex: { arity: -4, run: (context, args) => range(context, parseOld(args, 'lex', true)) },
  zcount: { arity: 4, run: (context, [key, min, max]) => count(context, key, byScore(min, max)) },
  zlexcount: { arity: 4, run: (context, [key, min, max]) => count(context, key, byLex(min, max)) },
  zremrangebyscore: {
    arity: 4,
    writes: true,
    run: (context, [key, min, max]) => remove(context, key, byScore(min, max)),
  },
  zremrangebyrank: {
    arity: 4,
    writes: true,
    run: (context, [key, start, stop]) => remove(context, key, byRank(start, stop)),
  },
  zremrangebylex: {
    arity: 4,
    writes: true,
    run: (context, [key, min, max]) => remove(context, key, byLex(min, max)),
  },
};

interface Range {
  readonly key: string;
  readonly by: 'rank' | 'score' | 'lex';
  readonly places: PlacesIn;
  readonly isReverse: boolean;
  readonly withScores: boolean;
  readonly limit?: { readonly offset: number; readonly count: number };
}

function parseRange([key = '', start, stop, ...words]: readonly string[]): Range {
  let by: Range['by'] = 'rank';
  let isReverse = false;
  const rest: string[] = [];
  for (const word of words) {
    const option = word.toUpperCase();
    if (option === 'BYSCORE') by = 'score';
    else if (option === 'BYLEX') by = 'lex';
    else if (option === 'REV') isReverse = true;
    else rest.push(word);
  }
  const options = parseOptions(rest);
  if (options.limit && by === 'rank')
    throw new ErrorReply(
      'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX',
    );
  if (options.withScores && by === 'lex')
    throw new ErrorReply('ERR syntax error, WITHSCORES not supported in combination with BYLEX');
  return { key, by, isReverse, places: placesBy(by, start, stop, isReverse), ...options };
}

function parseOld(
  [key = '', start, stop, ...words]: readonly string[],
  by: Range['by'],
  isReverse: boolean,
): Range {
  const options = parseOptions(words);
  if (options.limit && by === 'rank')
    throw new ErrorReply(
      'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX',
    );
  if (options.withScores && by === 'lex')
    throw new ErrorReply('ERR syntax error, WITHSCORES not supported in combination with BYLEX');
  return { key, by, isReverse, places: placesBy(by, start, stop, isReverse), ...options };
}

function parseOptions(words: readonly string[]): Pick<Range, 'limit' | 'withScores'> {
  let withScores = false;
  let limit: Range['limit'];
  for (let index = 0; index < words.length; index++) {
    const option = words[index]?.toUpperCase();
    if (option === 'WITHSCORES') withScores = true;
    else if (option === 'LIMIT' && index + 2 < words.length) {
      limit = { offset: parseInteger(words[index + 1]), count: parseInteger(words[index + 2]) };
      index += 2;
    } else throw new ErrorReply(SYNTAX_ERROR);
  }
  return { withScores, ...(limit ? { limit } : {}) };
}

function placesBy(
  by: Range['by'],
  start: string | undefined,
  stop: string | undefined,
  isReverse: boolean,
): PlacesIn {
  if (by === 'rank') {
    const places = byRank(start, stop);
    return (set) => {
      const [from, to] = places(set);
      return isReverse ? [set.size - to, set.size - from] : [from, to];
    };
  }
  const [min, max] = isReverse ? [stop, start] : [start, stop];
  return by === 'score' ? byScore(min, max) : byLex(min, max);
}

function byRank(start: string | undefined, stop: string | undefined): PlacesIn {
  const [first, last] = [parseInteger(start), parseInteger(stop)];
  return (set) => placesOf(first, last, set.size);
}

function byScore(min: string | undefined, max: string | undefined): PlacesIn {
  const [low, high] = [scoreEnd(min), scoreEnd(max)];
  return (set) => set.placesByScore(low, high);
}

function scoreEnd(text = ''): RangeEnd<number> {
  const isExclusive = text.startsWith('(');
  return {
    isExclusive,
    value: parseDouble(isExclusive ? text.slice(1) : text, 'ERR min or max is not a float'),
  };
}

const EVERYTHING = { min: '-', max: '+' } as const;

function byLex(min: string | undefined, max: string | undefined): PlacesIn {
  const [low, high] = [lexEnd(min), lexEnd(max)];
  return (set) => {
    // From the highest on there is nothing, and up to the lowest neither.
    if (low === EVERYTHING.max || high === EVERYTHING.min) return [0, 0];
    return set.placesByLex(
      low === EVERYTHING.min ? undefined : low,
      high === EVERYTHING.max ? undefined : high,
    );
  };
}

function lexEnd(text = ''): RangeEnd<string> | '-' | '+' {
  if (text === '-' || text === '+') return text;
  if (!text.startsWith('[') && !text.startsWith('('))
    throw new ErrorReply('ERR min or max not valid string range item');
  return { value: text.slice(1), isExclusive: text.startsWith('(') };
}

function range({ db }: DataContext, wanted: Range): Reply {
  const set = db.typed(wanted.key, SortedSet);
  const found = set ? limited(set, wanted) : [];
  if (!wanted.withScores) return found.map(({ member }) => member);
  return new PairsReply(found.map(({ member, score }) => [member, new DoubleReply(score)] as const));
}

function limited(set: SortedSet, { isReverse, limit, places }: Range): readonly ScoredMember[] {
  const entries = [...set.entries(...places(set))];
  if (isReverse) entries.reverse();
  if (!limit) return entries;
  if (limit.offset < 0) return [];
  return entries.slice(limit.offset, limit.count < 0 ? undefined : limit.offset + limit.count);
}

function count({ db }: DataContext, key = '', places: PlacesIn): Reply {
  const set = db.typed(key, SortedSet);
  if (!set) return 0;
  const [from, to] = places(set);
  return to - from;
}

function remove({ db }: DataContext, key = '', places: PlacesIn): Reply {
  const set = db.typed(key, SortedSet);
  if (!set) return 0;
  const gone = set.entries(...places(set));
  for (const { member } of gone) set.delete(member);
  db.dropIfEmpty(key, set);
  return gone.length;
}
