#!/usr/bin/env node
// `npx rollkeeper …`: the built program, on a Node that is new enough whatever started this.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, run } from './lib/run.mjs';
import { ROOT, ensureNode } from './lib/setup.mjs';

const main = join(ROOT, 'dist', 'main.js');
if (!existsSync(main))
  fail('not built yet; `npm start` sets up and builds everything, `npm run build` only builds');
process.exitCode = await run(ensureNode(), [main, ...process.argv.slice(2)]);
