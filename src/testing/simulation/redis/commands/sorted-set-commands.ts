import { SortedSet } from '../data/sorted-set.js';
import type { DataCommands, DataContext } from './command.js';
import { pairsFrom, parseDouble, parseInteger } from './command.js';
import { RANGE_COMMANDS } from './sorted-set-ranges.js';
import type { Reply } from '../resp/reply.js';
import { DoubleReply, ErrorReply, PairsReply, SYNTAX_ERROR } from '../resp/reply.js';

/** Commands on sorted sets. */
export const SORTED_SET_COMMANDS: DataCommands = {
  ...RANGE_COMMANDS,
  zadd: { arity: -4, writes: true, needsMemory: true, run: add },
  zincrby: {
    arity: 4,
    writes: true,
    needsMemory: true,
    run: (context, [key = '', by = '', member = '']) => add(context, [key, 'INCR', by, member]),
  },
  zrem: {
    arity: -3,
    writes: true,
    run({ db }, [key = '', ...members]) {
      const set = db.typed(key, SortedSet);
      if (!set) return 0;
      const count = members.filter((member) => set.delete(member)).length;
      db.dropIfEmpty(key, set);
      return count;
    },
  },
  zscore: {
    arity: 3,
    run: ({ db }, [key = '', member = '']) => scoreReply(db.typed(key, SortedSet), member),
  },
  zmscore: {
    arity: -3,
    run({ db }, [key = '', ...members]) {
      const set = db.typed(key, SortedSet);
      return members.map((member) => scoreReply(set, member));
    },
  },
  zcard: { arity: 2, run: ({ db }, [key = '']) => db.typed(key, SortedSet)?.size ?? 0 },
  zrank: {
    arity: 3,
    run: ({ db }, [key = '', member = '']) => db.typed(key, SortedSet)?.rankOf(member) ?? null,
  },
  zpopmin: { arity: -2, writes: true, run: (context, args) => pop(context, args, 'zpopmin') },
  zpopmax: { arity: -2, writes: true, run: (context, args) => pop(context, args, 'zpopmax') },
};

function scoreReply(set: SortedSet | undefined, member: string): Reply {
  const score = set?.scoreOf(member);
  return score === undefined ? null : new DoubleReply(score);
}

interface AddFlags {
  readonly onlyNew: boolean;
  readonly onlyKnown: boolean;
  readonly onlyGreater: boolean;
  readonly onlyLess: boolean;
  readonly countsChanges: boolean;
  readonly increases: boolean;
}

function add({ db }: DataContext, [key = '', ...words]: readonly string[]): Reply {
  const { flags, from } = parseFlags(words);
  const count = words.length - from;
  if (count === 0 || count % 2 !== 0) throw new ErrorReply(SYNTAX_ERROR);
  checkFlags(flags, count);
  const pairs = pairsFrom(words, from).map(([score, member]) => ({ member, score: parseDouble(score) }));
  if (flags.onlyKnown && !db.typed(key, SortedSet)) return flags.increases ? null : 0;
  const set = db.typedOrNew(key, SortedSet);
  let [added, updated] = [0, 0];
  let last: number | undefined;
  for (const { member, score } of pairs) {
    const before = set.scoreOf(member);
    last = scoreToSet(flags, before, score);
    if (last === undefined) continue;
    if (before === undefined) added += 1;
    else if (before !== last) updated += 1;
    set.set(member, last);
  }
  db.dropIfEmpty(key, set);
  if (added > 0) db.signal(key);
  if (flags.increases) return last === undefined ? null : new DoubleReply(last);
  return flags.countsChanges ? added + updated : added;
}

function parseFlags(words: readonly string[]): { readonly flags: AddFlags; readonly from: number } {
  const known = new Set<string>();
  let from = 0;
  for (; ['NX', 'XX', 'GT', 'LT', 'CH', 'INCR'].includes(words[from]?.toUpperCase() ?? ''); from++)
    known.add(words[from]?.toUpperCase() ?? '');
  return {
    from,
    flags: {
      onlyNew: known.has('NX'),
      onlyKnown: known.has('XX'),
      onlyGreater: known.has('GT'),
      onlyLess: known.has('LT'),
      countsChanges: known.has('CH'),
      increases: known.has('INCR'),
    },
  };
}

function checkFlags(flags: AddFlags, count: number): void {
  if (flags.onlyNew && flags.onlyKnown)
    throw new ErrorReply('ERR XX and NX options at the same time are not compatible');
  if ((flags.onlyGreater && (flags.onlyNew || flags.onlyLess)) || (flags.onlyLess && flags.onlyNew))
    throw new ErrorReply('ERR GT, LT, and/or NX options at the same time are not compatible');
  if (flags.increases && count > 2)
    throw new ErrorReply('ERR INCR option supports a single increment-element pair');
}

/** Undefined: the member stays as it is. */
function scoreToSet(flags: AddFlags, before: number | undefined, score: number): number | undefined {
  if (before === undefined) return flags.onlyKnown ? undefined : score;
  if (flags.onlyNew) return undefined;
  const wanted = flags.increases ? before + score : score;
  if (Number.isNaN(wanted)) throw new ErrorReply('ERR resulting score is not a number (NaN)');
  if ((flags.onlyGreater && wanted <= before) || (flags.onlyLess && wanted >= before)) return undefined;
  return wanted;
}

function pop({ db }: DataContext, args: readonly string[], name: 'zpopmin' | 'zpopmax'): Reply {
  const [key = '', countText] = args;
  if (args.length > 2) throw new ErrorReply(SYNTAX_ERROR);
  const outOfRange = 'ERR value is out of range, must be positive';
  const count = countText === undefined ? 1 : parseInteger(countText, outOfRange);
  if (count < 0) throw new ErrorReply(outOfRange);
  const set = db.typed(key, SortedSet);
  if (!set) return [];
  const { size } = set;
  const isMin = name === 'zpopmin';
  const taken = isMin ? set.entries(0, count) : [...set.entries(Math.max(size - count, 0))].reverse();
  for (const { member } of taken) set.delete(member);
  db.dropIfEmpty(key, set);
  const pairs = taken.map(({ member, score }) => [member, new DoubleReply(score)] as const);
  return countText === undefined ? pairs.flat() : new PairsReply(pairs);
}
