import { parseInt64 } from './int64.js';
import { goQuote } from './go-text.js';
import { ownField } from './json-values.js';
import type { LabelMatcher, LabelSelector } from './label-selector.js';
import type { Decoded } from './decoded.js';
import type { DeepReadonly } from './objects.js';
import { checkLabelValue, checkQualifiedName } from './syntax.js';

/** The text is not a valid label selector; the message is Go's. */
export class LabelSelectorSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LabelSelectorSyntaxError';
  }
}

/**
 * Compiles a label selector in text form, as used by people and the API's parameter: `a=b`, `a==b`, `a!=b`,
 * `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined by commas. An empty text is no selector.
 * Grammar and words are those of apimachinery's `labels.Parse`.
 * @throws LabelSelectorSyntaxError
 */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  const matchers = new SelectorParser(text).parse();
  if (matchers.length === 0) return undefined;
  return (labels) => matchers.every((matches) => matches(labels));
}

const TOKEN = /[ \t\r\n]*(?:([=!(),<>]+)|([^=!(),<> \t\r\n]+)|$)/y;
const SYMBOLS = ['==', '!=', ')', ',', '!', '=', '>', '<', '('];
const OPERATORS: ReadonlySet<string> = new Set(['in', 'notin', '=', '==', '!=', '>', '<']);
const LISTED_OPERATORS = 'in, notin, =, ==, !=, gt, lt';

type Token =
  | { readonly type: 'symbol'; readonly text: string }
  /** A key, a value, or one of the words `in` and `notin`, which both may be, too. */
  | { readonly type: 'word'; readonly text: string }
  | { readonly type: 'end'; readonly text: '' };

const END: Token = { type: 'end', text: '' };

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [, symbols, word] = TOKEN.exec(text) ?? [];
    if (symbols !== undefined) tokens.push(...symbolsOf(symbols));
    else if (word !== undefined) tokens.push({ type: 'word', text: word });
    else break;
  }
  return [...tokens, END];
}

/** The longest symbol first: `!==` is `!=` and `=`. */
function symbolsOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const symbol = SYMBOLS.find((known) => text.startsWith(known, at)) ?? text[at]!;
    tokens.push({ type: 'symbol', text: symbol });
    at += symbol.length;
  }
  return tokens;
}

class SelectorParser {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(text: string) {
    this.tokens = scan(text);
  }

  parse(): LabelMatcher[] {
    const matchers: LabelMatcher[] = [];
    for (;;) {
      const first = this.next;
      if (first.type === 'end') return matchers;
      if (!isBeginning(first))
        throw new LabelSelectorSyntaxError(
          `found '${first.text}', expected: !, identifier, or 'end of string'`,
        );
      matchers.push(this.requirement());
      const { text, type } = this.take();
      if (type === 'end') return matchers;
      if (text !== ',')
        throw new LabelSelectorSyntaxError(`found '${text}', expected: ',' or 'end of string'`);
      if (!isBeginning(this.next))
        throw new LabelSelectorSyntaxError(`found '${this.next.text}', expected: identifier after ','`);
    }
  }

  private get next(): Token {
    return this.tokens[this.at] ?? END;
  }

  private take(): Token {
    const token = this.next;
    this.at++;
    return token;
  }

  private requirement(): LabelMatcher {
    const isNegated = this.next.text === '!' && this.next.type === 'symbol';
    if (isNegated) this.at++;
    const { text: key, type } = this.take();
    if (type !== 'word') throw unparsable(`found '${key}', expected: identifier`);
    checkKey(key);
    if (this.next.type === 'end' || this.next.text === ',')
      return (labels) => (ownField(labels, key) === undefined) === isNegated;
    if (isNegated) return (labels) => ownField(labels, key) === undefined;
    const { text: operator } = this.take();
    if (!OPERATORS.has(operator)) throw unparsable(`found '${operator}', expected: ${LISTED_OPERATORS}`);
    return operator === 'in' || operator === 'notin'
      ? compileSet(key, operator, this.values())
      : compileEquality(key, operator, this.exactValue());
  }

  private values(): string[] {
    const open = this.take();
    if (open.text !== '(') throw unparsable(`found '${open.text}' expected: '('`);
    const first = this.next;
    if (first.text === ')') {
      this.at++;
      return [''];
    }
    if (first.type !== 'word' && first.text !== ',')
      throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
    return this.listedValues();
  }

  /** An empty place between two commas is the empty value. */
  private listedValues(): string[] {
    const values: string[] = [];
    for (let value = ''; ; value = '') {
      if (this.next.type === 'word') value = this.take().text;
      else if (this.next.text !== ',' && this.next.text !== ')')
        throw unparsable(`found '${this.next.text}', expected: ',', or identifier`);
      values.push(value);
      const { text } = this.take();
      if (text === ')') return values;
      if (text !== ',') throw unparsable(`found '${text}', expected: ',' or ')'`);
    }
  }

  private exactValue(): string {
    if (this.next.type === 'end' || this.next.text === ',') return '';
    const { text, type } = this.take();
    if (type !== 'word') throw unparsable(`found '${text}', expected: identifier`);
    return text;
  }
}

function isBeginning({ text, type }: Token): boolean {
  return type === 'word' || text === '!';
}

function compileSet(key: string, operator: string, listed: readonly string[]): LabelMatcher {
  const values: ReadonlySet<string | undefined> = new Set(listed);
  checkValues(key, [...new Set(listed)].sort());
  if (operator === 'in') return (labels) => values.has(ownField(labels, key));
  return (labels) => !values.has(ownField(labels, key));
}

function compileEquality(key: string, operator: string, value: string): LabelMatcher {
  const isOrder = operator === '>' || operator === '<';
  const bound = isOrder ? parseInt64(value) : undefined;
  const notInteger = isOrder && bound === undefined ? [notAnInteger(value)] : [];
  checkValues(key, [value], notInteger);
  switch (operator) {
    case '!=':
      return (labels) => ownField(labels, key) !== value;
    case '>':
    case '<':
      return (labels) => {
        const label = parseInt64(ownField(labels, key) ?? '');
        if (label === undefined || bound === undefined) return false;
        return operator === '>' ? label > bound : label < bound;
      };
    default:
      return (labels) => ownField(labels, key) === value;
  }
}

function notAnInteger(value: string): string {
  return `values[0]: Invalid value: ${goQuote(value)}: for 'Gt', 'Lt' operators, the value must be an integer`;
}

function checkKey(key: string): void {
  const problems = checkQualifiedName(key);
  if (problems.length > 0) throw unparsable(`<nil>: Invalid value: ${goQuote(key)}: ${problems.join('; ')}`);
}

function checkValues(key: string, values: readonly string[], before: readonly string[] = []): void {
  const found = values.flatMap((value, index) => {
    const problems = checkLabelValue(value);
    const place = `values[${index}][${key}]`;
    return problems.length === 0 ? [] : `${place}: Invalid value: ${goQuote(value)}: ${problems.join('; ')}`;
  });
  const all = [...before, ...found];
  if (all.length > 0) throw unparsable(all.length === 1 ? all[0]! : `[${all.join(', ')}]`);
}

function unparsable(problem: string): Error {
  return new LabelSelectorSyntaxError(`unable to parse requirement: ${problem}`);
}

/** A label selector as the status of a Scale has it, `app=web,tier in (a,b)`; sorted by key, empty where there is nothing. */
export function selectorText(selector: DeepReadonly<Decoded<LabelSelector>> | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }));
  const expressions = (selector?.matchExpressions ?? []).map(({ key = '', operator = '', values = [] }) => ({
    key,
    text: expressionText(key, operator, values),
  }));
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

function expressionText(key: string, operator: string, values: readonly string[]): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${[...values].sort().join(',')})`;
  }
}
