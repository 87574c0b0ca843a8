/** Characters of all texts beyond which each of them is cut, and of each one then; those of the genuine server. */
const MAX_TOTAL = 4 * 1024;
const MAX_CUT = 256;

/** Characters that a header cannot hold. */
const CONTROL = /\p{Cc}/u;

/**
 * The values of the `Warning` headers (RFC 7234, code 299) for these texts. As in the genuine server each is sent once,
 * excess is cut off, and a text with a control character is omitted. Never fails.
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const shown = [...new Set(texts)].filter((text) => text !== '' && !CONTROL.test(text));
  const total = shown.reduce((length, text) => length + text.length, 0);
  return (total <= MAX_TOTAL ? shown : cut(shown)).map(headerOf);
}

/** Until they are as much as all may be together. */
function cut(texts: readonly string[]): string[] {
  const few: string[] = [];
  let total = 0;
  for (const text of texts) {
    if (total >= MAX_TOTAL) break;
    const short = [...text.slice(0, 2 * MAX_CUT)].slice(0, MAX_CUT).join('');
    total += short.length;
    few.push(short);
  }
  return few;
}

/** Node takes a character for a byte, clients read UTF-8. */
function headerOf(text: string): string {
  const quoted = text.toWellFormed().replace(/["\\]/g, (sign) => `\\${sign}`);
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}
