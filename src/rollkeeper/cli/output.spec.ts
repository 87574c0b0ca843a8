import { describe, expect, it } from 'vitest';
import { outputForm, printable } from './output.js';
import { splitRevisions } from './diff.command.js';

const FORMS = ['wide', 'json', 'yaml'] as const;

describe('the form of output', () => {
  it('is text where none is named, and --json means -o json', () => {
    expect(outputForm({}, FORMS)).toBe('text');
    expect(outputForm({ json: true }, FORMS)).toBe('json');
    expect(outputForm({ json: true, output: 'json' }, FORMS)).toBe('json');
    expect(outputForm({ output: 'wide' }, FORMS)).toBe('wide');
  });

  it('is refused where a command does not have it, and where two are named', () => {
    expect(() => outputForm({ output: 'name' }, FORMS)).toThrow(
      'output: "name" is not one of text, wide, json, yaml',
    );
    expect(() => outputForm({ json: true, output: 'yaml' }, FORMS)).toThrow(
      'output: "yaml" conflicts with --json',
    );
  });

  it('keeps integers that no double holds', async () => {
    const value = { revision: 9007199254740993n, long: 'x'.repeat(200) };
    expect(await printable('json', value)).toContain('"revision": 9007199254740993,');
    expect(await printable('yaml', value)).toBe(`revision: 9007199254740993\nlong: ${'x'.repeat(200)}`);
  });

  it('is a line or a document of its own, where more of them come', async () => {
    expect(await printable('json', { a: 1 }, true)).toBe('{"a":1}');
    expect(await printable('yaml', { a: 1 }, true)).toBe('---\na: 1');
  });
});

describe('the words of diff', () => {
  it.each([
    [['web'], ['web'], []],
    [['deployment/web', '3'], ['deployment/web'], [3n]],
    [
      ['deployment', 'web', '3', '5'],
      ['deployment', 'web'],
      [3n, 5n],
    ],
    [['deployment/3'], ['deployment/3'], []],
  ])('end with revisions: %j', (words, name, revisions) => {
    expect(splitRevisions(words)).toEqual({ name, revisions });
  });

  it('are refused with the field that is wrong', () => {
    expect(() => splitRevisions(['3'])).toThrow('name: is missing');
    expect(() => splitRevisions(['web', '1', '2', '3'])).toThrow('revision: at most two');
    expect(() => splitRevisions(['web', '9'.repeat(19)])).toThrow('is not a revision number');
  });
});
