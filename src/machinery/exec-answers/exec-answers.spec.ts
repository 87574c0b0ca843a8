import { describe, expect, it } from 'vitest';
import { answerTo, readExecAnswers } from './exec-answers.js';

const problemOf = (text: string): string => {
  try {
    readExecAnswers(text);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('readExecAnswers', () => {
  it('reads texts, and answers with an exit code', () => {
    const answers = readExecAnswers('cat /x: hello\n"*": {exitCode: 3, stderr: no}');
    expect(answerTo(answers, ['cat', '/x'])).toEqual({ stdout: 'hello', stderr: '', exitCode: 0 });
    expect(answerTo(answers, ['ls'])).toEqual({ stdout: '', stderr: 'no', exitCode: 3 });
  });

  it.each([
    ['a list', '[a]', 'it is no map'],
    ['a command without an answer', 'ls: ', 'ls: Invalid input'],
    ['a key that is there twice', '{a: x, a: y}', 'Map keys must be unique'],
  ])('says what is wrong with %s', (_name, text, problem) => {
    expect(problemOf(text)).toBe(
      `the annotation node.rollkeeper.dev/exec is not a map of commands to answers: ${problem}`,
    );
  });

  it('refuses a long annotation before it reads it', () => {
    const keys = Array.from({ length: 34_000 }, (_, index) => `k${index}`).join(',');
    expect(problemOf(`{${keys}}`)).toContain('it has more than 16384 characters');
  });

  it('names one problem of many, in one line that repeats little of the text', () => {
    const keys = Array.from({ length: 300 }, (_, index) => `${'k'.repeat(30)}${index}`).join(',');
    for (const text of [`{${keys}}`, `{${'x'.repeat(9000)}: [1]}`, `{a: {${keys}}}`]) {
      expect(problemOf(text).length).toBeLessThan(300);
      expect(problemOf(text)).not.toContain('\n');
    }
  });
});
