/**
 * Writes the table of docs/API.md from the kinds of the embedded API server.
 * Run after a change of the kinds: `node -C rollkeeper:source --import tsx scripts/generate-api-docs.mjs`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import prettier from 'prettier';
import { createKindRegistry } from '../src/apiserver/index.js';
import { apiTable } from '../src/testing/api-table.js';

const file = fileURLToPath(new URL('../docs/API.md', import.meta.url));
const BEGIN = '<!-- generated: begin -->';
const END = '<!-- generated: end -->';
const text = readFileSync(file, 'utf8');
const before = text.slice(0, text.indexOf(BEGIN) + BEGIN.length);
const after = text.slice(text.indexOf(END));
const whole = `${before}\n\n${apiTable(createKindRegistry())}\n\n${after}`;
const options = await prettier.resolveConfig(file);
writeFileSync(file, await prettier.format(whole, { ...options, parser: 'markdown' }));
