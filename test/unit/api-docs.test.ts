import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createKindRegistry } from '../../src/apiserver/index.js';
import { apiTable, strayNotes } from '../../src/testing/api-table.js';

const kinds = createKindRegistry();
const text = readFileSync(new URL('../../docs/API.md', import.meta.url), 'utf8');

/** The cells of the tables in a text, whatever spaces are between them. */
function cells(markdown: string): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| -'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

describe('docs/API.md', () => {
  it('tells every kind with its verbs and subresources (else run scripts/generate-api-docs.mjs)', () => {
    expect(cells(text)).toEqual(cells(apiTable(kinds)));
  });

  it('has no note about a kind that is not there', () => {
    expect(strayNotes(kinds)).toEqual([]);
  });
});
