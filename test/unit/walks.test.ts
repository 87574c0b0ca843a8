import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../image/dockerfile.js';

const PACKAGES = readdirSync(join(ROOT, 'src')).map((name) => `src/${name}`);

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** The walks of docs/WALKS.md, by their headings. */
function readWalks(): readonly (readonly [heading: string, files: readonly string[]])[] {
  const [, ...sections] = textOf('docs/WALKS.md').split('\n## ');
  return sections.map((section) => {
    const named = [...section.matchAll(/`([a-z][\w./-]*\.ts)`/g)].map(([, file = '']) => file);
    return [section.split('\n')[0] ?? '', [...new Set(named)]];
  });
}

/** The number of folders that a walk goes through, and of its steps back into a folder that it has left. */
function countFolders(files: readonly string[]): readonly [folders: number, returns: number] {
  const seen = new Set<string>();
  const entered = files.map(dirname).filter((folder, index, all) => folder !== all[index - 1]);
  const returns = entered.filter((folder) => seen.has(folder) || !seen.add(folder));
  return [seen.size, returns.length];
}

describe('docs/WALKS.md', () => {
  const walks = readWalks();

  it.each(walks)('names only files that exist: %s', (_heading, files) => {
    expect(files.filter((file) => !existsSync(join(ROOT, 'src', file)))).toEqual([]);
  });

  it.each(walks)('counts the files that it names: %s', (heading, files) => {
    expect(heading).toMatch(new RegExp(`: ${files.length} files$`));
  });

  it('shows the same counts in its table', () => {
    const rows = [...textOf('docs/WALKS.md').matchAll(/^\| .*\| +(\d+) \| +(\d+) \| +(\d+) \|$/gm)];
    expect(rows.map(([, ...today]) => today.map(Number))).toEqual(
      walks.map(([, files]) => [files.length, ...countFolders(files)]),
    );
  });
});

describe('the pages for contributors', () => {
  const isIn = (folder: string, name: string): boolean =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).some((path) =>
      `/${path}`.endsWith(`/${name}`),
    );

  it.each(PACKAGES)('the README of %s names only files of the package or the repository', (folder) => {
    const named = [...textOf(`${folder}/README.md`).matchAll(/`([a-z][\w./-]*\.(?:ts|mjs|txt))`/g)];
    const isThere = (file: string): boolean =>
      ['', 'src'].some((above) => existsSync(join(ROOT, above, file))) || isIn(folder, file);
    const missing = named.filter(([, file = '']) => !isThere(file));
    expect(missing.map(([, file]) => file)).toEqual([]);
  });

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
    expect(lines.length).toBeLessThanOrEqual(150);
    expect(lines.filter((line) => line.length > 110)).toEqual([]);
  });
});
