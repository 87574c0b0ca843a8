/** Text that is no base64; the message is that of Go's `CorruptInputError`. */
export class Base64Error extends Error {
  constructor(at: number) {
    super(`illegal base64 data at input byte ${at}`);
  }
}

const WELL_FORMED = /^(?:[A-Za-z0-9+/]{4})*$/;

/**
 * The text as Go writes it again: without the line breaks that its decoder skips, and without bits behind the last byte.
 * @throws Base64Error
 */
export function canonicalBase64(text: string): string {
  if (WELL_FORMED.test(text)) return text;
  const bytes = Buffer.from(text);
  const at = corruptionOf(bytes);
  if (at !== undefined) throw new Base64Error(at);
  return Buffer.from(text.replace(/[\r\n]/g, ''), 'base64').toString('base64');
}

const PADDING = '='.charCodeAt(0);

/** The place at which Go's decoder stops; undefined: it reads it all. Source: decodeQuantum in encoding/base64. */
function corruptionOf(bytes: Buffer): number | undefined {
  let at = 0;
  for (;;) {
    for (let digit = 0; digit < 4; digit++) {
      at = afterBreaks(bytes, at);
      if (at === bytes.length) return digit === 0 ? undefined : at - digit;
      const byte = bytes[at++]!;
      if (byte === PADDING) return digit < 2 ? at - 1 : corruptPadding(bytes, at, digit === 2);
      if (!isDigit(byte)) return at - 1;
    }
  }
}

/** Checks the text after the first sign of padding. */
function corruptPadding(bytes: Buffer, start: number, wantsAnother: boolean): number | undefined {
  let at = start;
  if (wantsAnother) {
    at = afterBreaks(bytes, at);
    if (at === bytes.length) return at;
    if (bytes[at] !== PADDING) return at - 1;
    at++;
  }
  at = afterBreaks(bytes, at);
  return at < bytes.length ? at : undefined;
}

function afterBreaks(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 10 || bytes[at] === 13) at++;
  return at;
}

function isDigit(byte: number): boolean {
  return /[A-Za-z0-9+/]/.test(String.fromCharCode(byte));
}
