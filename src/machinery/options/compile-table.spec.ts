import { describe, expect, expectTypeOf, it } from 'vitest';
import { compileTable } from './compile-table.js';
import type { TableOption } from './option-table.js';
import {
  decimal,
  describeDefault,
  file,
  flag,
  milliseconds,
  onOrOff,
  oneOf,
  text,
  wholeNumber,
} from './option-table.js';

const help = 'what it does';
const TABLE = {
  name: text({ help, required: 'is required', maxLength: 5 }),
  word: text({ help, default: 'one', pattern: { matches: /^\w+$/, says: 'must be one word' } }),
  config: file({ help }),
  count: wholeNumber({ help, least: 1, most: 9, default: 3 }),
  share: decimal({ help, least: 0 }),
  'wait-ms': milliseconds({ help, default: 500 }),
  how: oneOf(['slow', 'fast'], { help, default: 'fast' }),
  quiet: flag({ help }),
  elect: onOrOff({ help, default: true }),
};

describe('options of a table', () => {
  it('have the defaults of the table, and its types', () => {
    const compiled = compileTable(TABLE, { name: 'a' });
    expect(compiled).toEqual({
      ...{ name: 'a', word: 'one', count: 3, 'wait-ms': 500, how: 'fast', quiet: false, elect: true },
    });
    expectTypeOf(compiled.name).toEqualTypeOf<string>();
    expectTypeOf(compiled.count).toEqualTypeOf<number>();
    expectTypeOf(compiled.how).toEqualTypeOf<'slow' | 'fast'>();
    expectTypeOf(compiled.config).toEqualTypeOf<string | undefined>();
    expectTypeOf(compiled.share).toEqualTypeOf<number | undefined>();
    expectTypeOf(compiled.quiet).toEqualTypeOf<boolean>();
    expect(Object.isFrozen(compiled)).toBe(true);
  });

  it('are read as they were typed', () => {
    const typed = { name: 'a', count: '9', share: '0.5', 'wait-ms': '1', how: 'slow', elect: 'false' };
    expect(compileTable(TABLE, typed)).toMatchObject({
      ...{ count: 9, share: 0.5, 'wait-ms': 1, how: 'slow', elect: false },
    });
  });

  it.each([
    { wrong: { name: undefined }, says: 'name: is required' },
    { wrong: { name: 'abcdef' }, says: 'name: ' },
    { wrong: { word: 'a b' }, says: 'word: must be one word' },
    { wrong: { config: '' }, says: 'config: must name a file' },
    { wrong: { count: 'many' }, says: 'count: is not a number' },
    { wrong: { count: '1.5' }, says: 'count: is not a whole number' },
    { wrong: { count: '0' }, says: 'count: must be at least 1' },
    { wrong: { count: '10' }, says: 'count: must be at most 9' },
    { wrong: { 'wait-ms': '86400001' }, says: 'wait-ms: must be at most 86400000' },
    { wrong: { how: 'steady' }, says: 'how: must be slow or fast' },
    { wrong: { elect: 'no' }, says: 'elect: must be true or false' },
  ])('are refused by name: $says', ({ wrong, says }) => {
    expect(() => compileTable(TABLE, { name: 'a', ...wrong })).toThrow(says);
  });

  it.each<{ name: string; option: TableOption; shown: string | undefined }>([
    { name: 'as it is', option: TABLE.count, shown: '3' },
    { name: 'not at all where a flag is off', option: TABLE.quiet, shown: undefined },
    { name: 'where it is on', option: TABLE.elect, shown: 'true' },
    { name: 'in words of its own', option: file({ help, shownDefault: 'none' }), shown: 'none' },
  ])('show their default: $name', ({ option, shown }) => {
    expect(describeDefault(option)).toBe(shown);
  });
});
