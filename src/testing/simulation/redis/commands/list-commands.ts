import { ListValue } from '../data/keyspace.js';
import type { DataCommands, DataContext } from './command.js';
import { parseInteger, placesOf } from './command.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, NULL_ARRAY, OK, SYNTAX_ERROR } from '../resp/reply.js';

/** Commands on lists. */
export const LIST_COMMANDS: DataCommands = {
  lpush: { arity: -3, writes: true, needsMemory: true, run: (context, args) => push(context, args, true) },
  rpush: { arity: -3, writes: true, needsMemory: true, run: (context, args) => push(context, args, false) },
  lpop: { arity: -2, writes: true, run: (context, args) => pop(context, args, true) },
  rpop: { arity: -2, writes: true, run: (context, args) => pop(context, args, false) },
  llen: { arity: 2, run: ({ db }, [key = '']) => db.typed(key, ListValue)?.size ?? 0 },
  lrange: {
    arity: 4,
    run({ db }, [key = '', start, stop]) {
      const [first, last] = [parseInteger(start), parseInteger(stop)];
      const items = db.typed(key, ListValue)?.items ?? [];
      return items.slice(...placesOf(first, last, items.length));
    },
  },
  lindex: {
    arity: 3,
    run({ db }, [key = '', index]) {
      const list = db.typed(key, ListValue);
      return list ? (list.items.at(parseInteger(index)) ?? null) : null;
    },
  },
  lset: {
    arity: 4,
    writes: true,
    needsMemory: true,
    run({ db }, [key = '', index, text = '']) {
      const list = db.typed(key, ListValue);
      if (!list) throw new ErrorReply('ERR no such key');
      const asked = parseInteger(index);
      const at = asked < 0 ? list.size + asked : asked;
      if (at < 0 || at >= list.size) throw new ErrorReply('ERR index out of range');
      list.items[at] = text;
      return OK;
    },
  },
  lrem: { arity: 4, writes: true, run: remove },
  ltrim: {
    arity: 4,
    writes: true,
    run({ db }, [key = '', start, stop]) {
      const [first, last] = [parseInteger(start), parseInteger(stop)];
      const list = db.typed(key, ListValue);
      if (!list) return OK;
      list.items = list.items.slice(...placesOf(first, last, list.size));
      db.dropIfEmpty(key, list);
      return OK;
    },
  },
  lpos: { arity: -3, run: position },
  rpoplpush: {
    arity: 3,
    writes: true,
    needsMemory: true,
    run(context, [from = '', to = '']) {
      const { db } = context;
      if (!db.typed(from, ListValue)) return null;
      db.typed(to, ListValue);
      const item = pop(context, [from], false) as string;
      push(context, [to, item], true);
      return item;
    },
  },
};

function push({ db }: DataContext, [key = '', ...items]: readonly string[], isLeft: boolean): number {
  const list = db.typedOrNew(key, ListValue);
  if (isLeft) list.items.unshift(...items.reverse());
  else list.items.push(...items);
  db.signal(key);
  return list.size;
}

function pop({ db }: DataContext, args: readonly string[], isLeft: boolean): Reply {
  const [key = '', countText] = args;
  if (args.length > 2)
    throw new ErrorReply(`ERR wrong number of arguments for '${isLeft ? 'lpop' : 'rpop'}' command`);
  const outOfRange = 'ERR value is out of range, must be positive';
  const count = countText === undefined ? undefined : parseInteger(countText, outOfRange);
  if (count !== undefined && count < 0) throw new ErrorReply(outOfRange);
  const list = db.typed(key, ListValue);
  if (!list) return count === undefined ? null : NULL_ARRAY;
  const wanted = Math.min(count ?? 1, list.size);
  const taken = isLeft
    ? list.items.splice(0, wanted)
    : list.items.splice(list.size - wanted, wanted).reverse();
  db.dropIfEmpty(key, list);
  return count === undefined ? (taken[0] ?? null) : taken;
}

function remove({ db }: DataContext, [key = '', countText, text]: readonly string[]): Reply {
  const count = parseInteger(countText);
  const list = db.typed(key, ListValue);
  if (!list) return 0;
  let left = count === 0 ? Infinity : Math.abs(count);
  const items = count < 0 ? list.items.toReversed() : list.items;
  const kept = items.filter((item) => item !== text || left-- <= 0);
  const removed = list.size - kept.length;
  list.items = count < 0 ? kept.reverse() : kept;
  db.dropIfEmpty(key, list);
  return removed;
}

function position({ db }: DataContext, [key = '', text, ...options]: readonly string[]): Reply {
  const wanted: Record<string, number | undefined> = {};
  for (let index = 0; index < options.length; index += 2) {
    const name = options[index]?.toUpperCase() ?? '';
    if (!['RANK', 'COUNT', 'MAXLEN'].includes(name) || options[index + 1] === undefined)
      throw new ErrorReply(SYNTAX_ERROR);
    wanted[name] = parseInteger(options[index + 1]);
  }
  const { RANK: rank = 1, COUNT: count, MAXLEN: longest = 0 } = wanted;
  if (rank === 0)
    throw new ErrorReply(
      "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list",
    );
  if (count !== undefined && count < 0) throw new ErrorReply("ERR COUNT can't be negative");
  if (longest < 0) throw new ErrorReply("ERR MAXLEN can't be negative");
  const list = db.typed(key, ListValue);
  if (!list) return count === undefined ? null : [];
  const found = placesIn(list.items, text ?? '', rank, longest);
  if (count === undefined) return found[0] ?? null;
  return count === 0 ? found : found.slice(0, count);
}

function placesIn(items: readonly string[], text: string, rank: number, longest: number): number[] {
  const places = [...items.keys()];
  const looked = (rank < 0 ? places.reverse() : places).slice(0, longest === 0 ? items.length : longest);
  return looked.filter((place) => items[place] === text).slice(Math.abs(rank) - 1);
}
