#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { nodeProblem, oldestNode } from './base/process/node-version.js';

// Before anything is loaded that an older Node would stumble over.
const problem = nodeProblem(process.version, oldestNode());
if (problem) {
  process.stderr.write(`rollkeeper: ${problem}\n`);
  process.exitCode = 1;
} else {
  const { keepHeapSmallWhileLoading } = await import('./base/process/heap-while-loading.js');
  keepHeapSmallWhileLoading();
  const { keepStringsFast } = await import('./base/process/fast-strings.js');
  keepStringsFast();
  await import('reflect-metadata');
  const { createProgram } = await import('./app/cli/program.js');
  await createProgram(fileURLToPath(import.meta.url)).parseAsync();
}
