/**
 * Writes docs/OPTIONS.md, and the limits in the chart's values.schema.json, from the tables of options.
 * Run after a change of an option: `node -C rollkeeper:source --import tsx scripts/generate-option-docs.mjs`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import { optionTables, withOptionLimits } from '../test/support/option-documents.js';

const BEGIN = '<!-- generated: begin -->';
const END = '<!-- generated: end -->';

const docs = fileURLToPath(new URL('../docs/OPTIONS.md', import.meta.url));
const text = readFileSync(docs, 'utf8');
const before = text.slice(0, text.indexOf(BEGIN) + BEGIN.length);
const after = text.slice(text.indexOf(END));
await write(docs, `${before}\n\n${optionTables()}\n\n${after}`, 'markdown');

const schema = fileURLToPath(new URL('../helm/rollkeeper/values.schema.json', import.meta.url));
const limited = withOptionLimits(JSON.parse(readFileSync(schema, 'utf8')));
await write(schema, JSON.stringify(limited, null, 2), 'json');

async function write(file, content, parser) {
  const options = await prettier.resolveConfig(file);
  writeFileSync(file, await prettier.format(content, { ...options, parser }));
}
