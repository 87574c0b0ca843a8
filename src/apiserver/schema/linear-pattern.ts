import { RE2JS } from 're2js';

const compiled = new Map<string, LinearPattern>();
const MAX_KEPT = 2_000;

/**
 * A pattern of a user, in the syntax of Go's expressions. Matching takes time linear in the text: no pattern can hold up
 * the server.
 */
interface LinearPattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** The first matches, `limit` at most. */
  findAll(text: string, limit: number): string[];
}

/**
 * @throws PatternSyntaxError when it is no pattern
 */
export function linearPattern(source: string): LinearPattern {
  const known = compiled.get(source);
  if (known) return known;
  if (compiled.size >= MAX_KEPT) compiled.clear();
  const pattern = compilePattern(source);
  compiled.set(source, pattern);
  return pattern;
}

export class PatternSyntaxError extends Error {}

function compilePattern(source: string): LinearPattern {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(source);
  } catch (error) {
    throw new PatternSyntaxError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  return {
    test: (text) => expression.test(text),
    findAll(text, limit) {
      const found: string[] = [];
      const matcher = expression.matcher(text);
      while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '');
      return found;
    },
  };
}
