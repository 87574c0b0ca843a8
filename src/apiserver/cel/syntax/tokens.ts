/** The kinds of tokens, by their names in messages. The order is that in which messages list them. */
const NAMES = [
  "'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'", "'&&'", "'||'", "'['", "']'", "'{'", "'}'", "'('", "')'", "'.'", "','",
  "'-'", "'!'", "'?'", "':'", "'+'", "'*'", "'/'", "'%'", "'true'", "'false'", "'null'", 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT',
  'STRING', 'BYTES', 'IDENTIFIER', 'ESC_IDENTIFIER',
] as const; // prettier-ignore

/** `'=='`, `IDENTIFIER`, or `<EOF>` for the end. */
export type TokenKind = (typeof NAMES)[number] | '<EOF>';

/** Kinds in the order in which messages list them. */
export function inOrder(kinds: ReadonlySet<TokenKind>): TokenKind[] {
  const order: readonly TokenKind[] = ['<EOF>', ...NAMES];
  return order.filter((kind) => kinds.has(kind));
}

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/** Characters that are no token. */
export interface UnknownText {
  readonly at: number;
  readonly length: number;
}

const HIDDEN = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y;
const OPERATORS = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const ESCAPED_WORD = /`[A-Za-z0-9_.\-/ ]+`/y;
const FLOAT = /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y;
const UINT = /0x[\dA-Fa-f]+[uU]|\d+[uU]/y;
const INT = /0x[\dA-Fa-f]+|\d+/y;
const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[0-3][0-7][0-7]|[xX][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8})`;
const TEXTS = [
  String.raw`"""(?:${ESCAPE}|[^\\])*?"""`,
  String.raw`'''(?:${ESCAPE}|[^\\])*?'''`,
  String.raw`"(?:${ESCAPE}|[^\\"\n\r])*"`,
  String.raw`'(?:${ESCAPE}|[^\\'\n\r])*'`,
  String.raw`[rR]"""[\s\S]*?"""`,
  String.raw`[rR]'''[\s\S]*?'''`,
  String.raw`[rR]"[^"\n\r]*"`,
  String.raw`[rR]'[^'\n\r]*'`,
];
const TEXT = new RegExp(TEXTS.join('|'), 'uy');
const BYTES = new RegExp(`[bB](?:${TEXTS.join('|')})`, 'uy');
const KEYWORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);

/** Beginnings of tokens that need more. The text up to the point where no token can continue counts as not recognized. */
const BEGINNINGS = [
  new RegExp(String.raw`"(?:${ESCAPE}|[^\\"\n\r])*(?:\\(?:[0-3][0-7]?|[xX][\dA-Fa-f]?|u[\dA-Fa-f]{0,3}|U[\dA-Fa-f]{0,7})?)?`, 'uy'),
  new RegExp(String.raw`'(?:${ESCAPE}|[^\\'\n\r])*(?:\\(?:[0-3][0-7]?|[xX][\dA-Fa-f]?|u[\dA-Fa-f]{0,3}|U[\dA-Fa-f]{0,7})?)?`, 'uy'),
  /`[A-Za-z0-9_.\-/ ]*/y,
  /[=&|]/y,
]; // prettier-ignore

/** Splits an expression into tokens; what belongs to none is left out and reported. */
export function tokensOf(text: string, unknown: UnknownText[]): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const hidden = lengthOf(HIDDEN, text, at);
    if (hidden > 0) {
      at += hidden;
      continue;
    }
    const token = tokenAt(text, at);
    if (token) {
      tokens.push(token);
      at = token.end;
      continue;
    }
    const length = unrecognized(text, at);
    unknown.push({ at, length });
    at += length;
  }
  tokens.push({ kind: '<EOF>', start: text.length, end: text.length });
  return tokens;
}

function tokenAt(text: string, at: number): Token | undefined {
  const kinds = [
    ['BYTES', BYTES],
    ['STRING', TEXT],
    ['NUM_FLOAT', FLOAT],
    ['NUM_UINT', UINT],
    ['NUM_INT', INT],
    ['IDENTIFIER', WORD],
    ['ESC_IDENTIFIER', ESCAPED_WORD],
    ['', OPERATORS],
  ] as const;
  // The longest counts; of two, the first.
  let best: Token | undefined;
  for (const [name, pattern] of kinds) {
    const end = at + lengthOf(pattern, text, at);
    if (end <= (best?.end ?? at)) continue;
    const word = text.slice(at, end);
    const kind = name === '' || KEYWORDS.has(word) ? (`'${word}'` as TokenKind) : name;
    best = { kind, start: at, end };
  }
  return best;
}

/** The characters that are no token, with the first that made it so. */
function unrecognized(text: string, at: number): number {
  const begun = Math.max(0, ...BEGINNINGS.map((pattern) => lengthOf(pattern, text, at)));
  const next = text.codePointAt(at + begun);
  return begun + (next === undefined ? 0 : String.fromCodePoint(next).length);
}

function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
