#!/usr/bin/env node
// `npx rollkeeper …` runs the built program, on a Node that is new enough even if an older one started this.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from './lib/run.mjs';
import { ROOT, ensureNode, runProgram } from './lib/setup.mjs';

if (!existsSync(join(ROOT, 'dist', 'main.js')))
  fail('not built yet; `npm start` sets up and builds everything, `npm run build` only builds');
process.exitCode = await runProgram(ensureNode(), process.argv.slice(2));
