import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { startTestCluster } from '../src/testing/cluster/index.js';
import { PackedProject } from '../test/e2e/support/packed-project.js';
import { number, readFlags } from '../test/support/flags.js';
import type { Memory } from './support/process-figures.js';
import { memoryOf } from './support/process-figures.js';

/**
 * Measures the memory and CPU of an operator of a few lines: `test/nightly/support/minimal-operator.mjs`, without
 * Redis.
 */
const { runs, seconds } = readFlags('npm run bench -- --operator', {
  runs: number('of each; the median counts', 5),
  seconds: number('at rest before its memory is read', 10),
});

/** As the image of a new operator has it. */
const FRUGAL = {
  NODE_OPTIONS: '--max-semi-space-size=8',
  ...{ MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' },
};
const BANNER =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

/** CPU of an import, milliseconds, and nothing else on standard output. */
const importing = (file: string): string => `
  const before = process.cpuUsage();
  await import(${JSON.stringify(file)});
  const { system, user } = process.cpuUsage(before);
  console.log((system + user) / 1000);
`;

const project = new PackedProject();
const cluster = await startTestCluster({ controllers: [], nodes: 0 });
try {
  cpSync(
    join(import.meta.dirname, '..', 'test', 'nightly', 'support', 'minimal-operator.mjs'),
    join(project.directory, 'operator.mjs'),
  );
  project.write(
    'kit.mjs',
    "export { ConfigMap, createManager, defineController, stopSignal } from '@rollkeeper/runtime';\n",
  );
  await build({
    ...{ absWorkingDir: project.directory, entryPoints: ['operator.mjs', 'kit.mjs'], outdir: 'bundle' },
    ...{
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      logLevel: 'error',
    },
    ...{
      mainFields: ['module', 'main'],
      minifyWhitespace: true,
      minifySyntax: true,
      outExtension: { '.js': '.mjs' },
      banner: { js: BANNER },
    },
  });
  console.log('| | import (ms of CPU) | resident (MiB) | its own pages (MiB) |\n|---|---:|---:|---:|');
  const empty = { name: 'Node itself, doing nothing', kit: undefined, file: undefined };
  for (const { env = {}, file, kit, name } of [
    { ...empty, env: {} },
    { name: 'from its packages', kit: 'kit.mjs', file: 'operator.mjs' },
    { name: 'bundled', kit: 'bundle/kit.mjs', file: 'bundle/operator.mjs' },
    {
      name: 'bundled, with the image’s settings',
      kit: 'bundle/kit.mjs',
      file: 'bundle/operator.mjs',
      env: FRUGAL,
    },
  ]) {
    const loads = kit === undefined ? [] : await repeat(() => cpuOfImport(join(project.directory, kit), env));
    const rests = await repeat(() => memoryAtRest(file && join(project.directory, file), env));
    const [load, resident, own] = [
      loads,
      rests.map((rest) => rest.resident),
      rests.map((rest) => rest.own),
    ].map(median);
    console.log(`| ${name} | ${load ?? ''} | ${resident} | ${own} |`);
  }
} finally {
  await cluster.stop();
  project.remove();
}

async function repeat<T>(work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let run = 0; run < runs; run++) results.push(await work());
  return results;
}

function median(values: readonly number[]): number | undefined {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  return middle === undefined ? undefined : Math.round(middle);
}

async function cpuOfImport(file: string, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', importing(file)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) printed += String(chunk);
  return Number(printed);
}

async function memoryAtRest(file: string | undefined, env: NodeJS.ProcessEnv): Promise<Memory> {
  const args = file === undefined ? ['--eval', 'setInterval(() => undefined, 1000)'] : [file];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...cluster.env, ...env },
    stdio: 'ignore',
  });
  try {
    await pause(seconds * 1000);
    return memoryOf(child.pid ?? 0);
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
}
