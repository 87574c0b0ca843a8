import { describe, expect, it } from 'vitest';
import { ROOT } from '../../image/dockerfile.js';
import { withPatch } from './planted-bug.js';
import { PLANTED_BUGS } from './planted-bugs.js';
import { textOf } from './planted-plugin.js';

describe('a planted bug', () => {
  it('has a name of its own', () => {
    const names = PLANTED_BUGS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names.every((name) => /^[a-z-]+$/.test(name))).toBe(true);
  });

  it.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))(
    'has its place in the product: %s',
    (_, bug) => {
      expect(withPatch(textOf(bug, ROOT), bug)).not.toBe(textOf(bug, ROOT));
    },
  );

  it('fails if its place is missing, or not the only one', () => {
    const bug = { name: 'x', breaks: '', file: 'x.ts', from: 'a', to: 'b' };
    expect(withPatch('-a-', bug)).toBe('-b-');
    expect(() => withPatch('---', bug)).toThrow('its text occurs 0 times in x.ts, not once');
    expect(() => withPatch('-a-a-', bug)).toThrow('its text occurs 2 times in x.ts, not once');
  });
});
