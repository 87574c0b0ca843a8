import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createKindRegistry } from '../../src/apiserver/index.js';
import { apiTable, servedNames, strayNotes } from '../support/api-table.js';
import { surfaceText } from '../support/surface-docs.js';

const kinds = createKindRegistry();
const text = readFileSync(new URL('../../docs/API.md', import.meta.url), 'utf8');

/** The cells of the tables in a text, without the spaces around them. */
function cells(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| -'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

/** The words of a text, however its lines are broken. */
function words(markdown: string): string[] {
  return markdown.split(/\s+/).filter((word) => word !== '');
}

describe('docs/API.md', () => {
  it('tells every kind with its verbs and subresources (else run scripts/generate-api-docs.mjs)', () => {
    expect(cells(text)).toEqual(cells(apiTable(kinds)));
  });

  it('says what of the surface differs, and why (else run scripts/generate-api-docs.mjs)', () => {
    const [, shown = ''] = text.split('<!-- generated: surface begin -->');
    expect(words(shown.split('<!-- generated: surface end -->')[0] ?? '')).toEqual(words(surfaceText()));
  });

  it('does not deny what its table has', () => {
    const [denied = ''] = /Not there at all:[^.]*\./.exec(text) ?? [];
    const named = Array.from(denied.matchAll(/`([^`]+)`/g), ([, name = '']) => name);
    expect(denied).not.toBe('');
    expect(named.filter((name) => servedNames(kinds).has(name))).toEqual([]);
  });

  it('has no note about a kind that is not there', () => {
    expect(strayNotes(kinds)).toEqual([]);
  });
});
