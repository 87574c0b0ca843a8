import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { linkedPages } from '../../docs/site/sidebar.mjs';
import { ROOT } from '../image/dockerfile.js';

/** In no list: decisions have one of their own. */
const ELSEWHERE = /^adr\/|^site\/|^api\//;

it('every page of docs is in the sidebar of the site, once', () => {
  const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !ELSEWHERE.test(path))
    .map((path) => `/docs/${path.replace(/\.md$/, '')}`);
  const linked = linkedPages().filter((link) => link.startsWith('/docs/') && link !== '/docs/reference');
  expect(linked.toSorted()).toEqual(pages.toSorted());
});

it('the site has its own lockfile, and the root installs nothing of it', () => {
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    workspaces: string[];
  };
  expect(workspaces.filter((folder) => folder.startsWith('docs'))).toEqual([]);
  expect(readFileSync(join(ROOT, 'docs', 'site', 'package-lock.json'), 'utf8')).toContain(
    'node_modules/vitepress',
  );
});
