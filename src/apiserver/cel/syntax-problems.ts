/** What is wrong with a text that is no expression, and where. */
export interface SyntaxProblem {
  readonly start: number;
  readonly words: string;
}

/** What the library says of such a text. */
interface ParseError {
  readonly code?: string;
  readonly summary?: string;
  readonly range?: { readonly start: number };
}

/** Enough for a reader; a text of other characters than those of expressions has one on every place. */
const MOST = 20;

/**
 * All that cel-go says of a text that is no expression: what is no word of the language is skipped, and the rest read nevertheless.
 * @param error what the library says of the whole text
 * @param parse throws what it says of a text of the same length
 * @returns none where the error is another one
 */
export function syntaxProblemsOf(
  expression: string,
  error: unknown,
  parse: (text: string) => void,
): readonly SyntaxProblem[] {
  const found: SyntaxProblem[] = [];
  let text = expression;
  let said = error as ParseError | undefined;
  while (said && found.length < MOST) {
    const start = said.range?.start ?? 0;
    const unknown = unknownWordAt(text, start, said);
    if (unknown === undefined) {
      // A point and digits are one number.
      const isNumber = said.summary === 'Expected IDENTIFIER, got NUMBER' && text[start - 1] === '.';
      const at = isNumber ? start - 1 : start;
      const words = wordsOf(isNumber ? { summary: "Unexpected character: '.'" } : said, text, at);
      return words === undefined ? [] : [...found, { start: at, words }];
    }
    found.push({ start, words: `Syntax error: token recognition error at: '${unknown}'` });
    text = text.slice(0, start) + ' '.repeat(unknown.length) + text.slice(start + unknown.length);
    said = errorOf(() => parse(text));
  }
  return found;
}

function errorOf(parse: () => void): ParseError | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return error as ParseError;
  }
}

/** What the lexer cannot read: a lone sign with what follows it, or a text without an end. */
function unknownWordAt(text: string, start: number, { summary = '' }: ParseError): string | undefined {
  if (summary === 'Unterminated string') return /^[^\n]*/.exec(text.slice(start))?.[0];
  if (!/^Unexpected character: [^']/s.test(summary)) return undefined;
  return /^(?:[=&|].?|.)/su.exec(text.slice(start))?.[0];
}

/** What a term begins with, in the order of the grammar; those in brackets only after an opening sign. */
const STARTS = ["'['", "(']')", "'{'", "('}')", "'('", "(')')", "'.'", "(',')", "'-'", "'!'", "('?')"];
const LITERALS = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER".split(
  ', ',
);

function starts(...more: string[]): string {
  const signs = STARTS.flatMap((sign) => {
    if (!sign.startsWith('(')) return [sign];
    const plain = sign.slice(1, -1);
    return more.includes(plain) ? [plain] : [];
  });
  return `{${[...signs, ...LITERALS].join(', ')}}`;
}

const END = '<EOF>';

function wordsOf({ summary = '' }: ParseError, text: string, start: number): string | undefined {
  const words = problemAt(summary, text, start);
  return words && `Syntax error: ${words}`;
}

function problemAt(summary: string, text: string, start: number): string | undefined {
  const token = tokenAt(text, start);
  const rest = text.slice(start + token.length);
  const [, expected, got] = /^Expected (\w+), got (\w+)$/.exec(summary) ?? [];
  if (expected !== undefined) return got === 'EOF' ? missing(expected, text) : instead(expected, token, rest);
  if (/^Unexpected character: '/.test(summary))
    return `${rest.trim() === '' ? 'extraneous' : 'mismatched'} input '${token}' expecting ${END}`;
  if (summary === 'Unexpected token: EOF') return noTerm(text);
  if (!summary.startsWith('Unexpected token: ')) return undefined;
  const isFollowed = /^\s*[\w[{(.\-!"']/.test(rest);
  return `${isFollowed ? 'extraneous' : 'mismatched'} input '${token}' expecting ${starts()}`;
}

function missing(expected: string, text: string): string | undefined {
  switch (expected) {
    case 'RPAREN':
      return `missing ')' at '${END}'`;
    case 'COLON':
      return `mismatched input '${END}' expecting ':'`;
    case 'IDENTIFIER':
      return "no viable alternative at input '.'";
    case 'RBRACKET':
      return isIndex(text) ? `missing ']' at '${END}'` : ended("{']', ','}");
    default:
      return undefined;
  }
}

function instead(expected: string, token: string, rest: string): string | undefined {
  if (expected !== 'RPAREN') return undefined;
  return `${rest.trim().startsWith(')') ? 'extraneous' : 'mismatched'} input '${token}' expecting ')'`;
}

/** The text ends where a term should begin. */
function noTerm(text: string): string {
  const before = text.trimEnd();
  const isAfterTerm = /[\w)\]}"']\s*.$/s.test(before);
  switch (before.at(-1)) {
    case '[':
      return ended(isAfterTerm ? starts("'?'") : starts("']'", "','", "'?'"));
    case '{':
      return ended(starts("'}'", "','", "'?'"));
    case '(':
      return ended(isAfterTerm ? starts("')'") : starts());
    case '!':
      return `extraneous input '${END}' expecting ${starts()}`;
    default:
      return ended(starts());
  }
}

function ended(expected: string): string {
  return `mismatched input '${END}' expecting ${expected}`;
}

/** Whether the last bracket that opens comes after a term. */
function isIndex(text: string): boolean {
  return /[\w)\]}"']\s*$/.test(text.slice(0, text.lastIndexOf('[')));
}

function tokenAt(text: string, start: number): string {
  return (
    /^(?:[A-Za-z_]\w*|\d+(?:\.\d+)?|\.\d+|"[^"]*"|'[^']*'|&&|\|\||[=!<>]=|.)/su.exec(
      text.slice(start),
    )?.[0] ?? ''
  );
}
