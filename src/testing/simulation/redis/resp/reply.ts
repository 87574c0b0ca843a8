/**
 * The answer to a command. Text is binary: each character is a byte. A string is a bulk string, a number or bigint an integer, null
 * the null of a value, an array an array.
 */
export type Reply =
  | string
  | number
  | bigint
  | null
  | readonly Reply[]
  | StatusReply
  | ErrorReply
  | DoubleReply
  | MapReply
  | SetReply
  | PairsReply
  | PushReply
  | VerbatimReply
  | NullArrayReply;

export class StatusReply {
  constructor(readonly text: string) {}
}

/** An answer, not an exception of ours: commands throw it, and the server writes it to the connection. */
export class ErrorReply extends Error {
  /** @param message the code and the text, without the leading `-` */
  constructor(message: string) {
    super(message);
  }
}

export class DoubleReply {
  constructor(readonly value: number) {}
}

/** Keys and values in turn; a flat array in RESP2. */
export class MapReply {
  constructor(readonly flat: readonly Reply[]) {}
}

export class SetReply {
  constructor(readonly members: readonly Reply[]) {}
}

/** Members with their scores: pairs, and a flat array in RESP2. */
export class PairsReply {
  constructor(readonly pairs: readonly (readonly [Reply, Reply])[]) {}
}

/** A message that answers no command. */
export class PushReply {
  constructor(readonly items: readonly Reply[]) {}
}

/** Plain text; a bulk string in RESP2. */
export class VerbatimReply {
  constructor(readonly text: string) {}
}

/** The null of an array: a wait that timed out, or a transaction that was not carried out. */
export class NullArrayReply {}

export const OK = new StatusReply('OK');
export const QUEUED = new StatusReply('QUEUED');
export const NULL_ARRAY = new NullArrayReply();

export const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
export const SYNTAX_ERROR = 'ERR syntax error';
export const NOT_AN_INTEGER = 'ERR value is not an integer or out of range';
export const NOT_A_FLOAT = 'ERR value is not a valid float';
