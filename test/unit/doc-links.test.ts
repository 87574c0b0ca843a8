import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsIn, linksIn, slugOf } from '../../scripts/lib/markdown-links.mjs';
import { ROOT } from '../image/dockerfile.js';

/** The pages of the repository, but for templates of other projects. */
const PAGES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && !path.includes('/template/') && existsSync(join(ROOT, path)));
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** `docs/KIT.md:12: … leads nowhere`, for each link of a page that does. */
function deadLinks(page: string): string[] {
  return linksIn(textOf(page)).flatMap(({ anchor, line, path }) => {
    const target = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
    const shown = `${page}:${line}: ${path}${anchor === '' ? '' : `#${anchor}`}`;
    if (!existsSync(join(ROOT, target))) return [`${shown} leads nowhere`];
    if (anchor === '' || !target.endsWith('.md')) return [];
    return anchorsIn(textOf(target)).has(anchor) ? [] : [`${shown} has no such heading`];
  });
}

it.each(PAGES)('every link of %s leads somewhere', (page) => {
  expect(deadLinks(page)).toEqual([]);
});

it('no page has the marks of an unfinished merge', () => {
  const unfinished = PAGES.filter((page) => /^(?:<{7}|>{7}|={7}$|(?:> ){7})/m.test(textOf(page)));
  expect(unfinished).toEqual([]);
});

describe('links of Markdown', () => {
  it('are found outside of code, external ones left out', () => {
    const text = [
      'See [a](A.md#one), `[b](B.md)` and [c](https://example.com).',
      '```md',
      '[d](D.md)',
      '```',
      '![image](images/e.png) [`f`](#g)',
    ].join('\n');
    expect(linksIn(text).map(({ anchor, line, path }) => [path, anchor, line])).toEqual([
      ['A.md', 'one', 1],
      ['images/e.png', '', 5],
      ['', 'g', 5],
    ]);
    expect(linksIn(text).map(({ end, start }) => text.slice(start, end))).toEqual([
      'A.md#one',
      'images/e.png',
      '#g',
    ]);
  });

  it('name headings as GitHub does', () => {
    expect(slugOf('With and without Redis')).toBe('with-and-without-redis');
    expect(slugOf('`rollkeeper queue show`: what waits?')).toBe('rollkeeper-queue-show-what-waits');
    expect(anchorsIn('# One\n## Two\n```\n# no\n```\n## Two\n')).toEqual(new Set(['one', 'two', 'two-1']));
  });
});
