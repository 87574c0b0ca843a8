import { describe, expect, it } from 'vitest';
import { compileExpression } from '../compile-expression.js';

const TERM =
  "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

const problemOf = (text: string) => compileExpression(text, { variables: { a: 'dyn', b: 'dyn' } }).problem;

describe('a text that is no expression', () => {
  it.each([
    ['a b', 3, "extraneous input 'b' expecting <EOF>"],
    ['a b a', 3, "mismatched input 'b' expecting <EOF>"],
    ['1 +', 4, `mismatched input '<EOF>' expecting {${TERM}}`],
    ['1 + + 2', 5, `extraneous input '+' expecting {${TERM}}`],
    [')', 1, `mismatched input ')' expecting {${TERM}}`],
    ['(1', 3, "missing ')' at '<EOF>'"],
    ['(a b)', 4, "extraneous input 'b' expecting ')'"],
    ['true ? 1', 9, "mismatched input '<EOF>' expecting ':'"],
    ['a.', 3, "no viable alternative at input '.'"],
    ['a.b[1', 6, "missing ']' at '<EOF>'"],
    ['[1', 3, "mismatched input '<EOF>' expecting {']', ','}"],
    ['a.1', 2, "extraneous input '.1' expecting <EOF>"],
  ])('is refused as cel-go refuses it: %s', (text, column, words) => {
    expect(problemOf(text)?.split('\n')[0]).toBe(`ERROR: <input>:1:${column}: Syntax error: ${words}`);
  });

  it('is read on behind what is no word of the language', () => {
    expect(problemOf('a = b')).toBe(
      "ERROR: <input>:1:3: Syntax error: token recognition error at: '= '\n | a = b\n | ..^\n" +
        "ERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>\n | a = b\n | ....^",
    );
  });

  it('has wide marks below wide characters', () => {
    expect(problemOf("'é' é")).toBe(
      "ERROR: <input>:1:5: Syntax error: token recognition error at: 'é'\n | 'é' é\n | .．..＾",
    );
  });

  it('is not described without end if it has signs alone', () => {
    expect(problemOf('@'.repeat(1000))?.split('ERROR').length).toBeLessThan(105);
  });
});
