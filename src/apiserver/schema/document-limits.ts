/**
 * Limits of one document, in any encoding. A genuine server is bounded by the memory and threads of its machine; here
 * all clients share one thread, and recursion its stack.
 */

/** Lists and objects within each other: what recursion has stack for. Go's JSON reader stops at 10 000. */
export const MAX_DEPTH = 500;

/** Values, lists and objects included. An object of the largest size that can be stored has about 75 000. */
export const MAX_VALUES = 100_000;

/** A document that is too deep, or holds too much; `message` in Go's words where it has any. */
export class DocumentLimitError extends Error {
  constructor(
    readonly limit: 'depth' | 'values' | 'text',
    message: string,
  ) {
    super(message);
    this.name = 'DocumentLimitError';
  }
}

export function tooDeep(): DocumentLimitError {
  return new DocumentLimitError('depth', `exceeded max depth of ${MAX_DEPTH}`);
}

/** Characters of strings and names; as much as the largest body may have. */
const MAX_TEXT_LENGTH = 3 * 1024 * 1024;

function tooMuchText(): DocumentLimitError {
  return new DocumentLimitError('text', `the document has more than ${MAX_TEXT_LENGTH} characters`);
}

function tooManyValues(): DocumentLimitError {
  return new DocumentLimitError('values', `the document has more than ${MAX_VALUES} values`);
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;

interface TextLimits {
  /** @default {@link MAX_DEPTH} */
  readonly maxDepth?: number;
  /** @default {@link MAX_VALUES} */
  readonly maxValues?: number;
}

/**
 * Looks at a text of JSON before anything is made of it. One pass, and none for texts that are too short to be too deep.
 * @throws DocumentLimitError
 */
export function checkJsonText(
  text: string,
  { maxDepth = MAX_DEPTH, maxValues = MAX_VALUES }: TextLimits = {},
): void {
  if (text.length <= maxDepth) return;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (at < 0) return;
        break;
      case 91:
      case 123:
        if (++depth > maxDepth) throw tooDeep();
        if (++values > maxValues) throw tooManyValues();
        break;
      case 93:
      case 125:
        depth--;
        break;
      case COMMA:
        if (++values > maxValues) throw tooManyValues();
    }
  }
}

/** The place of the closing quote of the string that begins at `start`; -1 if it has none. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

/**
 * The same for a value that something was made of.
 * @throws DocumentLimitError
 */
export function checkValue(value: unknown): void {
  new ValueCheck().visit(value, 0);
}

class ValueCheck {
  private values = 0;
  private textLength = 0;

  visit(value: unknown, depth: number): void {
    if (++this.values > MAX_VALUES) throw tooManyValues();
    if (typeof value === 'string') this.countText(value);
    if (typeof value !== 'object' || value === null) return;
    if (depth >= MAX_DEPTH) throw tooDeep();
    if (Array.isArray(value)) {
      for (const item of value) this.visit(item, depth + 1);
      return;
    }
    for (const [name, field] of Object.entries(value)) {
      this.countText(name);
      this.visit(field, depth + 1);
    }
  }

  private countText(text: string): void {
    this.textLength += text.length;
    if (this.textLength > MAX_TEXT_LENGTH) throw tooMuchText();
  }
}
