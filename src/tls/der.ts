import { RollkeeperError } from '@rollkeeper/machinery/errors';

/** The bytes are not DER, or not the expected structure. */
export class DerError extends RollkeeperError {
  readonly code = 'DER';
}

/** One ASN.1 value in DER. */
export interface DerValue {
  /** The identifier octet: class, form and number. */
  readonly tag: number;
  readonly content: Buffer;
}

export const TAG = {
  integer: 0x02,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A constructed context-specific tag: `[0]`. */
export const contextTag = (number: number): number => 0xa0 | number;

/**
 * Reads the single value that makes up all of `bytes`. Strict: each value has one encoding, so that two readers cannot
 * see different values.
 * @throws DerError
 */
export function readDer(bytes: Buffer): DerValue {
  const [value, ...others] = readAll(bytes);
  if (!value || others.length > 0) throw new DerError('there has to be one value, and nothing behind it');
  return value;
}

/** The values inside a constructed value. @throws DerError */
export function childrenOf(value: DerValue | undefined, tag: number): readonly DerValue[] {
  return readAll(expectTag(value, tag).content);
}

/** @throws DerError if it is absent or has another tag */
export function expectTag(value: DerValue | undefined, tag: number): DerValue {
  if (value?.tag !== tag)
    throw new DerError(`expected tag 0x${tag.toString(16)}, found ${value ? `0x${value.tag.toString(16)}` : 'nothing'}`);
  return value;
} // prettier-ignore

function readAll(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!;
    if ((tag & 0x1f) === 0x1f) throw new DerError('tags of several bytes are not used here');
    const { length, begin } = readLength(bytes, at + 1);
    const end = begin + length;
    if (end > bytes.length) throw new DerError('a value is longer than what contains it');
    values.push({ tag, content: bytes.subarray(begin, end) });
    at = end;
  }
  return values;
}

function readLength(bytes: Buffer, at: number): { readonly length: number; readonly begin: number } {
  const first = bytes[at];
  if (first === undefined) throw new DerError('a value ends before its length');
  if (first < 0x80) return { length: first, begin: at + 1 };
  const count = first & 0x7f;
  const begin = at + 1 + count;
  if (count === 0 || count > 4 || begin > bytes.length) throw new DerError('a length is not a definite one');
  const length = bytes.readUIntBE(at + 1, count);
  const isShortest = count === 1 ? length >= 0x80 : bytes[at + 1] !== 0;
  if (!isShortest) throw new DerError('a length is not written the shortest way');
  return { length, begin };
}
