import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../image/dockerfile.js';

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** The walks of docs/WALKS.md, by their headings. */
function readWalks(): readonly (readonly [heading: string, files: ReadonlySet<string>])[] {
  const [, ...sections] = textOf('docs/WALKS.md').split('\n## ');
  return sections.map((section) => {
    const named = [...section.matchAll(/`([a-z][\w./-]*\.ts)`/g)].map(([, file = '']) => file);
    return [section.split('\n')[0] ?? '', new Set(named)];
  });
}

describe('docs/WALKS.md', () => {
  const walks = readWalks();

  it.each(walks)('names only files that exist: %s', (_heading, files) => {
    expect([...files].filter((file) => !existsSync(join(ROOT, 'src', file)))).toEqual([]);
  });

  it.each(walks)('counts the files that it names: %s', (heading, files) => {
    expect(heading).toMatch(new RegExp(`: ${files.size} files$`));
  });

  it('shows the same counts in its table', () => {
    const rows = [...textOf('docs/WALKS.md').matchAll(/^\| .*\| +(\d+) \|$/gm)];
    expect(rows.map(([, today]) => Number(today))).toEqual(walks.map(([, files]) => files.size));
  });
});

describe('the pages for contributors', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const pages = listed
    .split('\n')
    .filter((page) => /^(ARCHITECTURE|CONTRIBUTING|docs\/[A-Z-]+)\.md$/.test(page));

  it.each(pages)('%s names only files of src and test that exist', (page) => {
    const named = [...textOf(page).matchAll(/`((?:src|test)\/[\w./-]+\.(?:ts|mjs))`/g)];
    expect(named.map(([, file = '']) => file).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('ARCHITECTURE.md fits a terminal', () => {
    const lines = textOf('ARCHITECTURE.md').split('\n');
    expect(lines.length).toBeLessThanOrEqual(160);
    expect(lines.filter((line) => line.length > 110)).toEqual([]);
  });
});
