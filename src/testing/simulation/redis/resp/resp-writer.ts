import type { Reply } from './reply.js';
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
} from './reply.js';
import { formatDouble } from './format-number.js';

export type RespVersion = 2 | 3;

export interface WriterOptions {
  readonly version: RespVersion;
  /** See `formatDouble`. */
  readonly hasShortestDoubles?: boolean;
}

/** A reply as it is sent; each character is a byte. */
export function writeReply(reply: Reply, options: WriterOptions): string {
  if (typeof reply === 'string') return bulk(reply);
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}\r\n`;
  if (reply === null) return options.version === 3 ? '_\r\n' : '$-1\r\n';
  if (reply instanceof StatusReply) return `+${reply.text}\r\n`;
  if (reply instanceof ErrorReply) return `-${reply.message.replace(/[\r\n]/g, ' ')}\r\n`;
  if (reply instanceof NullArrayReply) return options.version === 3 ? '_\r\n' : '*-1\r\n';
  if (reply instanceof DoubleReply) return writeDouble(reply.value, options);
  if (reply instanceof VerbatimReply)
    return options.version === 3 ? `=${reply.text.length + 4}\r\ntxt:${reply.text}\r\n` : bulk(reply.text);
  return writeAggregate(reply, options);
}

function writeAggregate(
  reply: readonly Reply[] | MapReply | SetReply | PairsReply | PushReply,
  options: WriterOptions,
): string {
  const isNew = options.version === 3;
  if (reply instanceof MapReply)
    return isNew ? list('%', reply.flat, options, reply.flat.length / 2) : list('*', reply.flat, options);
  if (reply instanceof SetReply) return list(isNew ? '~' : '*', reply.members, options);
  if (reply instanceof PairsReply) return list('*', isNew ? reply.pairs : reply.pairs.flat(), options);
  if (reply instanceof PushReply) return list(isNew ? '>' : '*', reply.items, options);
  return list('*', reply, options);
}

function list(sign: string, items: readonly Reply[], options: WriterOptions, count = items.length): string {
  let text = `${sign}${count}\r\n`;
  for (const item of items) text += writeReply(item, options);
  return text;
}

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}

function writeDouble(value: number, { hasShortestDoubles = false, version }: WriterOptions): string {
  const text = formatDouble(value, hasShortestDoubles);
  return version === 3 ? `,${text}\r\n` : bulk(text);
}
