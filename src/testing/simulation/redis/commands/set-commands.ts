import { SetValue } from '../data/keyspace.js';
import type { DataCommands } from './command.js';
import { SetReply } from '../resp/reply.js';

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;
/** A set of integers only, no more of them than this, is stored in their order. */
const MOST_INTEGERS = 512;

/** Commands on sets. */
export const SET_COMMANDS: DataCommands = {
  sadd: {
    arity: -3,
    writes: true,
    needsMemory: true,
    run({ db }, [key = '', ...added]) {
      const { members } = db.typedOrNew(key, SetValue);
      const before = members.size;
      for (const member of added) members.add(member);
      return members.size - before;
    },
  },
  srem: {
    arity: -3,
    writes: true,
    run({ db }, [key = '', ...removed]) {
      const value = db.typed(key, SetValue);
      if (!value) return 0;
      const count = removed.filter((member) => value.members.delete(member)).length;
      db.dropIfEmpty(key, value);
      return count;
    },
  },
  scard: { arity: 2, run: ({ db }, [key = '']) => db.typed(key, SetValue)?.size ?? 0 },
  sismember: {
    arity: 3,
    run: ({ db }, [key = '', member = '']) => (db.typed(key, SetValue)?.members.has(member) ? 1 : 0),
  },
  smembers: {
    arity: 2,
    run: ({ db }, [key = '']) => new SetReply(inOrder([...(db.typed(key, SetValue)?.members ?? [])])),
  },
};

function inOrder(members: string[]): string[] {
  const isOfIntegers = members.length <= MOST_INTEGERS && members.every((member) => INTEGER.test(member));
  return isOfIntegers ? members.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)) : members;
}
