import { spawn } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '../../scripts/lib/runtimes.mjs';
import { runtimeProgram } from '../../scripts/lib/runtimes.mjs';
import { ConfigMap } from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { PackedProject, StartedProgram } from '../e2e/support/packed-project.js';

const OPERATOR = join(import.meta.dirname, 'support', 'minimal-operator.mjs');
const PATIENT = { timeoutMs: 60_000 };
/** A bundle of CommonJS libraries needs this `require`. */
const BANNER =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";
const FLAGS: Readonly<Record<Runtime, readonly string[]>> = {
  'Node 22': [],
  'Node 24': [],
  Bun: [],
  Deno: ['run', '--allow-all'],
};

/** The same operator as CommonJS: `require` takes the kit as well. */
const asCommonJs = (text: string): string => {
  const main = text.indexOf('const manager');
  const required = text
    .slice(0, main)
    .replace(/import (\{[^}]*\}) from ('[^']*');/, 'const $1 = require($2);');
  return `${required}(async () => {\n${text.slice(main)}})();\n`;
};

describe('the minimal operator of packed packages, by a watch over TLS,', () => {
  let project: PackedProject;
  let cluster: TestCluster;
  let bundle: Metafile;
  beforeAll(async () => {
    cluster = await startTestCluster({ controllers: [], nodes: 0 });
    project = new PackedProject();
    cpSync(OPERATOR, join(project.directory, 'operator.mjs'));
    project.write('operator.cjs', asCommonJs(readFileSync(OPERATOR, 'utf8')));
    // As where it is not installed, since nothing needs it.
    const putBack = project.putAside('@rollkeeper/redis');
    ({ metafile: bundle } = await build({
      ...{
        metafile: true,
        absWorkingDir: project.directory,
        entryPoints: ['operator.mjs'],
        outfile: 'bundle/operator.mjs',
      },
      ...{ bundle: true, format: 'esm', platform: 'node', target: 'node22', mainFields: ['module', 'main'] },
      ...{ banner: { js: BANNER }, logLevel: 'error' },
    }).finally(putBack));
  });
  afterAll(async () => {
    await cluster.stop();
    project.remove();
  });

  function start(runtime: Runtime, file: string, env: NodeJS.ProcessEnv = cluster.env): StartedProgram {
    const program = runtimeProgram(runtime) ?? '';
    const child = spawn(program, [...FLAGS[runtime], join(project.directory, file)], {
      cwd: project.directory,
      env: { PATH: process.env['PATH'], HOME: project.directory, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new StartedProgram(child);
  }

  const CASES: readonly (readonly [Runtime, string])[] = [
    ['Node 24', 'operator.mjs'],
    ['Node 24', 'operator.cjs'],
    ['Node 24', 'bundle/operator.mjs'],
    ['Node 22', 'operator.mjs'],
    ['Node 22', 'operator.cjs'],
    ['Node 22', 'bundle/operator.mjs'],
    ['Deno', 'operator.mjs'],
    ['Deno', 'bundle/operator.mjs'],
    ['Bun', 'operator.mjs'],
    ['Bun', 'bundle/operator.mjs'],
  ];
  it.each(CASES)('on %s: %s sees a change, writes, and stops cleanly', async (runtime, file) => {
    // On another platform or without a network there is no program, and nothing to try.
    if (runtimeProgram(runtime) === undefined) return;
    const program = start(runtime, file);
    const name = `${runtime} ${file}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    await cluster.client.create(ConfigMap, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name, namespace: 'default', labels: { greet: 'please' } },
    });
    const isGreeted = (map?: { data?: { greeting?: string } }): boolean => {
      if (program.exitCode !== null) throw new Error(`it has ended: ${program.output}`);
      return map?.data?.greeting === `hello ${name}`;
    };
    try {
      await cluster.waitFor<ConfigMap>(`configmap/${name}`, isGreeted, PATIENT);
    } finally {
      await program.end('SIGTERM');
    }
    expect(program.output).toContain('stopped');
    expect(program.exitCode).toBe(0);
  });

  it('as a bundle: has one SDK of metrics, and no languages but English', () => {
    const files = Object.values(bundle.outputs).flatMap(({ inputs }) => Object.entries(inputs));
    const included = files.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file);
    const unused =
      /zod\/v4\/locales\/(?!(en|index)\.)|node_modules\/.*node_modules\/@opentelemetry\/sdk-metrics\//;
    expect(included.filter((file) => unused.test(file))).toEqual([]);
    expect(included.some((file) => file.includes('zod/v4/'))).toBe(true);
  });
});
