#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { OLDEST_NODE, nodeProblem } from '@rollkeeper/machinery/process/node-version';

// Before loading anything that fails on an older Node.
const problem = nodeProblem(process.version, OLDEST_NODE);
if (problem) {
  process.stderr.write(`rollkeeper: ${problem}; \`npm start\` and \`npx rollkeeper\` bring one along\n`);
  process.exitCode = 1;
} else {
  const { keepHeapSmallWhileLoading } = await import('@rollkeeper/machinery/process/heap-while-loading');
  keepHeapSmallWhileLoading();
  const { keepStringsFast } = await import('@rollkeeper/machinery/process/fast-strings');
  keepStringsFast();
  await import('reflect-metadata');
  const { runProgram } = await import('./cli/program.js');
  await runProgram(fileURLToPath(import.meta.url), process.argv);
}
