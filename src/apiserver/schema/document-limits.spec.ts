import { describe, expect, it } from 'vitest';
import { checkJsonText, checkValue, DocumentLimitError, MAX_DEPTH, MAX_VALUES } from './document-limits.js';
import { readJsonText } from './json-text.js';
import { parseYaml } from './yaml-text.js';

function limitOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof DocumentLimitError) return error.limit;
    throw error;
  }
}

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('a document', () => {
  it.each([
    ['as deep as it may be', lists(MAX_DEPTH), undefined],
    ['one level deeper', lists(MAX_DEPTH + 1), 'depth'],
    ['a hundred thousand deep', lists(100_000), 'depth'],
    ['with as many values as it may have', `[${'1,'.repeat(MAX_VALUES - 2)}1]`, undefined],
    ['with more values', `[${'1,'.repeat(MAX_VALUES)}1]`, 'values'],
    ['of nothing but commas', ','.repeat(1_400_000), 'values'],
    ['with brackets in a text', JSON.stringify('[{'.repeat(MAX_VALUES)), undefined],
    [
      'with brackets behind a quote in a text',
      JSON.stringify('"\\'.repeat(600) + '['.repeat(600)),
      undefined,
    ],
  ])('%s', (_name, text, limit) => {
    expect(limitOf(() => checkJsonText(text))).toBe(limit);
    if (limit === undefined) expect(limitOf(() => checkValue(readJsonText(text)))).toBeUndefined();
  });

  it('is bounded alike if it was made of something', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth <= MAX_DEPTH; depth++) deep = [deep];
    expect(limitOf(() => checkValue(deep))).toBe('depth');
    expect(limitOf(() => checkValue(Array.from({ length: MAX_VALUES }, () => 1)))).toBe('values');
    expect(limitOf(() => checkValue({ a: 'x'.repeat(4 * 1024 * 1024) }))).toBe('text');
  });
});

describe('YAML', () => {
  it.each([
    ['that contains itself', '&a [*a]'],
    ['that contains itself in a map', 'a: &a {b: *a}'],
    ['that doubles itself again and again', bomb(30)],
    ['of nothing but commas', `[${','.repeat(1_400_000)}]`],
    ['that is deep', lists(5000)],
  ])('%s is refused', async (_name, text) => {
    await expect(parseYaml(text)).rejects.toThrow(Error);
  });

  it('shares nothing between the places of an alias', async () => {
    const { value } = await parseYaml('a: &x {b: 1}\nc: *x\n');
    const { a, c } = value as Record<string, object>;
    expect(c).toEqual(a);
    expect(c).not.toBe(a);
  });

  it('takes a key named __proto__ for a key', async () => {
    const { value } = await parseYaml('__proto__: {polluted: 1}\n');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect('polluted' in (value as object)).toBe(false);
  });
});

function bomb(lines: number): string {
  const names = Array.from({ length: lines }, (_, index) => `x${index}`);
  return names
    .map((name, index) => `${name}: &${name} [*x${index - 1}, *x${index - 1}]`)
    .join('\n')
    .replaceAll('*x-1', 'lol');
}
