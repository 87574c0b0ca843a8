import type { Keyspace } from '../data/keyspace.js';
import { readDouble } from '../resp/read-double.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply, NOT_AN_INTEGER, NOT_A_FLOAT } from '../resp/reply.js';

/** The surroundings that a command on data may use. Text is binary. */
export interface DataContext {
  readonly db: Keyspace;
  /** The server's wall clock, epoch milliseconds. */
  readonly nowMs: number;
}

export interface CommandSpec<Context> {
  /** Number of words with the name; negative: at least so many. */
  readonly arity: number;
  readonly writes?: true;
  /** Refused while there is no memory left. */
  readonly needsMemory?: true;
  /** Not for scripts. */
  readonly noScript?: true;
  /** Answered also while data is loaded. */
  readonly whileLoading?: true;
  /** @param args without the name */
  readonly run: (context: Context, args: readonly string[]) => Reply;
}

export type CommandTable<Context> = Readonly<Record<string, CommandSpec<Context>>>;
export type DataCommands = CommandTable<DataContext>;

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;
const INT64 = 2n ** 63n;
const FLOAT = /^[-+]?(?:inf(?:inity)?|(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|0x[\da-f]+)$/i;

/** An int64 as Redis reads it: no sign of plus, no leading zero. @throws ErrorReply */
export function parseBigInteger(text: string | undefined, message = NOT_AN_INTEGER): bigint {
  if (text === undefined || !INTEGER.test(text)) throw new ErrorReply(message);
  const value = BigInt(text);
  if (value >= INT64 || value < -INT64) throw new ErrorReply(message);
  return value;
}

/** The same as a number, which is inexact beyond 2^53. @throws ErrorReply */
export function parseInteger(text: string | undefined, message = NOT_AN_INTEGER): number {
  return Number(parseBigInteger(text, message));
}

/** @throws ErrorReply */
export function parseDouble(text: string | undefined, message = NOT_A_FLOAT): number {
  if (text === undefined || !FLOAT.test(text)) throw new ErrorReply(message);
  return readDouble(text);
}

/** The places `[from, to)` of a range whose ends count from 0, or from -1 backwards. */
export function placesOf(start: number, stop: number, size: number): readonly [from: number, to: number] {
  const from = Math.max(start < 0 ? size + start : start, 0);
  const to = Math.min(stop < 0 ? size + stop : stop, size - 1) + 1;
  return [from, Math.max(from, to)];
}

/** Arguments that go in pairs. */
export function pairsFrom(args: readonly string[], from: number): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = from; index + 1 < args.length; index += 2)
    pairs.push([args[index] ?? '', args[index + 1] ?? '']);
  return pairs;
}

export function wrongCount(name: string): ErrorReply {
  return new ErrorReply(`ERR wrong number of arguments for '${name}' command`);
}
