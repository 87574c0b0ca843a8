/**
 * Writes the reference in docs/CLI.md and the man page from the commands, and the table of values in the chart's README from its schema
 * and values. Run after a change of either: `node -C rollkeeper:source --import tsx scripts/generate-cli-docs.mjs`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import { chartTable } from '../test/support/chart-documents.js';
import { cliReference, manPage } from '../test/support/cli-documents.js';

const BEGIN = '<!-- generated: begin -->';
const END = '<!-- generated: end -->';

await writeBetween('../docs/CLI.md', cliReference());
await writeBetween('../helm/rollkeeper/README.md', chartTable());
writeFileSync(fileURLToPath(new URL('../man/rollkeeper.1', import.meta.url)), `${manPage()}\n`);

async function writeBetween(path, content) {
  const file = fileURLToPath(new URL(path, import.meta.url));
  const text = readFileSync(file, 'utf8');
  const before = text.slice(0, text.indexOf(BEGIN) + BEGIN.length);
  const after = text.slice(text.indexOf(END));
  const options = await prettier.resolveConfig(file);
  writeFileSync(
    file,
    await prettier.format(`${before}\n\n${content}\n\n${after}`, { ...options, parser: 'markdown' }),
  );
}
