import type { Reply } from '../resp/reply.js';
import {
  DoubleReply,
  ErrorReply,
  MapReply,
  NullArrayReply,
  PairsReply,
  PushReply,
  SetReply,
  StatusReply,
  VerbatimReply,
} from '../resp/reply.js';
import { formatDouble } from '../resp/format-number.js';
import type { LuaStack } from './lua-stack.js';
import { LUA_TYPE } from './lua-stack.js';

/** Pushes what a command answered a script: nulls are false, doubles text, maps flat, as in RESP2. */
export function pushReply(stack: LuaStack, reply: Reply, hasShortestDoubles: boolean): void {
  stack.ensure(4);
  if (typeof reply === 'string') return stack.pushText(reply);
  if (typeof reply === 'number') return stack.pushNumber(reply);
  if (typeof reply === 'bigint') return stack.pushNumber(Number(reply));
  if (reply === null || reply instanceof NullArrayReply) return stack.pushBoolean(false);
  if (reply instanceof StatusReply) return pushField(stack, 'ok', reply.text);
  if (reply instanceof ErrorReply) return pushError(stack, reply.message, true);
  if (reply instanceof DoubleReply) return stack.pushText(formatDouble(reply.value, hasShortestDoubles));
  if (reply instanceof VerbatimReply) return stack.pushText(reply.text);
  pushItems(stack, itemsOf(reply), hasShortestDoubles);
}

function itemsOf(reply: readonly Reply[] | MapReply | SetReply | PairsReply | PushReply): readonly Reply[] {
  if (reply instanceof MapReply) return reply.flat;
  if (reply instanceof SetReply) return reply.members;
  if (reply instanceof PairsReply) return reply.pairs.flat();
  return reply instanceof PushReply ? reply.items : reply;
}

function pushItems(stack: LuaStack, items: readonly Reply[], hasShortestDoubles: boolean): void {
  stack.pushTable();
  const table = stack.top;
  for (const [index, item] of items.entries()) {
    pushReply(stack, item, hasShortestDoubles);
    stack.setItem(table, index + 1);
  }
}

function pushField(stack: LuaStack, name: string, text: string): void {
  stack.pushTable();
  stack.pushText(text);
  stack.setField(-2, name);
}

/** Pushes an error as scripts see it. @param isOfCommand whether a command answered it */
export function pushError(stack: LuaStack, message: string, isOfCommand = false): void {
  pushField(stack, 'err', message);
  if (!isOfCommand) return;
  stack.pushBoolean(true);
  stack.setField(-2, 'ignore_error_stats_update');
}

/** Reads what a script returned, which is on top of the stack. Numbers lose their fractions, arrays end at the first nil. */
export function readResult(stack: LuaStack, at: number): Reply {
  switch (stack.typeOf(at)) {
    case LUA_TYPE.string:
      return stack.textAt(at) ?? null;
    case LUA_TYPE.number:
      return toInteger(stack.numberAt(at));
    case LUA_TYPE.boolean:
      return stack.booleanAt(at) ? 1 : null;
    case LUA_TYPE.table:
      return readTable(stack, at < 0 ? stack.top + at + 1 : at);
    default:
      return null;
  }
}

function readTable(stack: LuaStack, table: number): Reply {
  stack.ensure(4);
  const err = textField(stack, table, 'err');
  if (err !== undefined) return new ErrorReply(asInC(err));
  const ok = textField(stack, table, 'ok');
  if (ok !== undefined) return new StatusReply(ok.replace(/[\r\n]/g, ' '));
  const items: Reply[] = [];
  for (let index = 1; ; index++) {
    stack.pushItem(table, index);
    if (stack.typeOf(-1) === LUA_TYPE.nil) {
      stack.pop();
      return items;
    }
    items.push(readResult(stack, -1));
    stack.pop();
  }
}

/** Undefined for any other type. */
export function textField(stack: LuaStack, table: number, name: string): string | undefined {
  stack.pushField(table, name);
  const text = stack.typeOf(-1) === LUA_TYPE.string ? stack.textAt(-1) : undefined;
  stack.pop();
  return text;
}

/** A text as C reads it: up to a zero byte. */
export function asInC(text: string): string {
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

/** As C turns a double into a `long long`. */
function toInteger(value: number): number | bigint {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole + 0;
  if (whole >= -(2 ** 63) && whole < 2 ** 63) return BigInt(whole);
  return -(2n ** 63n);
}
