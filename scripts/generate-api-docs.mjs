/**
 * Writes the parts of docs/API.md that follow from what is served: the table of all kinds, and what of the surface differs.
 * Run after a change of either: `node -C rollkeeper:source --import tsx scripts/generate-api-docs.mjs`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import { createKindRegistry } from '../src/apiserver/index.js';
import { apiTable } from '../test/support/api-table.js';
import { surfaceText } from '../test/support/surface-docs.js';

const file = fileURLToPath(new URL('../docs/API.md', import.meta.url));
const parts = { '': apiTable(createKindRegistry()), 'surface ': surfaceText() };
let text = readFileSync(file, 'utf8');
for (const [name, made] of Object.entries(parts)) {
  const begin = `<!-- generated: ${name}begin -->`;
  const before = text.slice(0, text.indexOf(begin) + begin.length);
  text = `${before}\n\n${made}\n\n${text.slice(text.indexOf(`<!-- generated: ${name}end -->`))}`;
}
const options = await prettier.resolveConfig(file);
writeFileSync(file, await prettier.format(text, { ...options, parser: 'markdown' }));
