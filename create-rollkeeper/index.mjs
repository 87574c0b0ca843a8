#!/usr/bin/env node
// `npm create rollkeeper NAME -- …` is `rollkeeper generate operator NAME …`.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const manifest = import.meta.resolve('rollkeeper/package.json');
const { bin } = JSON.parse(readFileSync(fileURLToPath(manifest), 'utf8'));
const program = fileURLToPath(new URL(bin.rollkeeper, manifest));
const args = [program, 'generate', 'operator', ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
process.exitCode = status ?? 1;
