// Makes the site's pages in `pages`: the repository's own Markdown where it is, with links to code led to pages that show it.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { linksIn } from '../../scripts/lib/markdown-links.mjs';
import { ROOT } from '../../scripts/lib/workspaces.mjs';

export const PAGES = join(import.meta.dirname, 'pages');
const TOP = [
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CODE_OF_CONDUCT.md',
  'CONTRIBUTING.md',
  'helm/rollkeeper/README.md',
];
/** Pages that are somewhere else on the site. */
const MOVED = [
  ['README.md', 'index.md'],
  ['.github/SECURITY.md', 'SECURITY.md'],
];
const CODE = { '.ts': 'ts', '.mjs': 'js', '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json', '.tpl': 'yaml' };

/** Writes all pages. Answers the decisions, for the sidebar. */
export function makePages() {
  rmSync(PAGES, { recursive: true, force: true });
  const pages = new Map(MOVED);
  for (const page of [...TOP, ...markdownBelow('docs')]) pages.set(page, page);
  const shown = new Set();
  for (const [source, page] of pages) {
    const text = readFileSync(join(ROOT, source), 'utf8');
    write(page, withLinks(text, { source, page, pages, shown }));
  }
  write('docs/reference.md', REFERENCE);
  for (const path of shown) write(pageOfCode(path), codeOf(path));
  cpSync(join(ROOT, 'docs', 'images'), join(PAGES, 'docs', 'images'), { recursive: true });
  return markdownBelow('docs/adr').map((path) => ({
    link: `/${path.replace(/\.md$/, '')}`,
    text: /^# (.*)$/m.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1] ?? path,
  }));
}

const REFERENCE = `# The kit’s exports

Every export of the packages, made from the sources: [open the reference](/api/index.html){target="_self"}. It has a search of its own.
`;

function withLinks(text, { page, pages, shown, source }) {
  let result = text;
  for (const { anchor, end, path, start } of [...linksIn(text)].reverse()) {
    if (path === '') continue;
    const target = posix.normalize(posix.join(posix.dirname(source), decodeURIComponent(path)));
    let to = pages.get(target);
    if (to === undefined && !target.startsWith('docs/images/')) {
      shown.add(target);
      to = pageOfCode(target);
    }
    if (to === undefined) to = target;
    const relative = posix.relative(posix.dirname(page), to);
    const whole = `${relative.startsWith('.') ? relative : `./${relative}`}${anchor === '' ? '' : `#${anchor}`}`;
    result = result.slice(0, start) + whole + result.slice(end);
  }
  return result;
}

function pageOfCode(path) {
  return `source/${path.replace(/\/$/, '')}.md`;
}

/** A file, or all files of a folder, as they are. */
function codeOf(path) {
  const full = join(ROOT, path);
  if (!existsSync(full)) throw new Error(`a page links to ${path}, which is not there`);
  const files = statSync(full).isDirectory() ? filesBelow(path) : [path];
  const parts = files.map((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8').trimEnd();
    const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length + 1)));
    const heading = files.length > 1 ? `## ${file}\n\n` : '';
    return `${heading}${fence}${CODE[extname(file)] ?? 'text'}\n${text}\n${fence}\n`;
  });
  return `# ${path}\n\n${parts.join('\n')}`;
}

function filesBelow(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(png|gz)$/.test(entry.name))
    .map((entry) => posix.relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => statSync(join(ROOT, path)).size < 100_000)
    .sort();
}

function markdownBelow(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => posix.relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !/^docs\/(site|api)\//.test(path))
    .sort();
}

function write(page, text) {
  const file = join(PAGES, page);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
