import { describe, expect, it } from 'vitest';
import { PLAIN, styleFor } from './style.js';
import { renderTable } from './table.js';

describe('colours', () => {
  it.each([
    ['on a terminal', { isTTY: true }, { TERM: 'xterm' }, true],
    ['not in a pipe', {}, { TERM: 'xterm' }, false],
    ['not where NO_COLOR says so', { isTTY: true }, { TERM: 'xterm', NO_COLOR: '1' }, false],
    ['where NO_COLOR is there and empty', { isTTY: true }, { TERM: 'xterm', NO_COLOR: '' }, true],
    ['not on a terminal that has none', { isTTY: true }, { TERM: 'dumb' }, false],
  ])('are there %s', (_, stream, env, expected) => {
    expect(styleFor(stream, env) !== PLAIN).toBe(expected);
  });
});

describe('a table', () => {
  it('has columns of equal width, whatever their colours', () => {
    const style = styleFor({ isTTY: true }, {});
    const table = renderTable([
      ['NAME', 'STATE'],
      [style.bad('a'), 'x'],
    ]);
    expect(table).toBe(`NAME  STATE\n${style.bad('a')}     x`);
  });

  it('has no spaces at the ends of its lines', () => {
    expect(renderTable([['a', ''], ['bb']])).toBe('a\nbb');
  });
});
