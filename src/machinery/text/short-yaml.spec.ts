import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { exactIntegerTags } from '../kubernetes/index.js';
import { parseShortYaml } from './short-yaml.js';

const options = { customTags: exactIntegerTags };

const problemOf = (text: string, longest = 1000): string => {
  try {
    parseShortYaml(text, longest);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('parseShortYaml', () => {
  it('reads what the library reads', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = stringify(value);
        expect(parseShortYaml(text, text.length)).toEqual(parse(text, options));
        const json = JSON.stringify(value);
        expect(parseShortYaml(json, json.length)).toEqual(parse(json, options));
      }),
    );
  });

  it('keeps integers exact', () => {
    expect(String((parseShortYaml('n: 9007199254740993', 100) as { n: unknown }).n)).toBe('9007199254740993');
  });

  it('is null for a text without a document', () => {
    expect(parseShortYaml('# nothing', 100)).toBeNull();
  });

  it.each([
    ['{a: 1, a: 2}', 'Map keys must be unique'],
    ['a: &x [*x]', 'an anchor contains its own alias'],
    ['[a]: 1', 'a key of a map is a list or a map'],
    ['a: 1\n---\nb: 2', 'there is more than one document'],
    ['['.repeat(500), 'it is nested more than 100 deep'],
    [`a: &x 1\nb: [${'*x, '.repeat(30)}]`, 'it has more than 20 aliases'],
    ['}'.repeat(500), 'Unexpected flow-map-end token in YAML document'],
  ])('refuses %j', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it('refuses a text that is too long before it reads it', () => {
    expect(problemOf('{'.repeat(101), 100)).toBe('it has more than 100 characters');
  });

  it('says what is wrong in one short line, whatever the text is', () => {
    const characters = fc.constantFrom(...'{}[],:-?&*!|>\'"%@`#ab1 \n\t\\'.split(''));
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 400 }), (text) => {
        const problem = problemOf(text);
        expect(problem.length).toBeLessThanOrEqual(200);
        expect(problem).not.toContain('\n');
      }),
    );
  });
});
