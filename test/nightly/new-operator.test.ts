import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { freePort } from '../../src/testing/free-port.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { PackedProject, StartedProgram } from '../e2e/support/packed-project.js';
import { helm, helmEnv } from '../unit/support/helm.js';

const ROOT = join(import.meta.dirname, '..', '..');

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const documentsIn = (text: string): Rendered[] =>
  parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return (document.toJS() as Rendered | null) ?? [];
  });

let project: PackedProject;
beforeAll(() => {
  project = new PackedProject();
  const creator = join(project.directory, 'node_modules', 'create-rollkeeper');
  cpSync(join(ROOT, 'create-rollkeeper'), creator, { recursive: true });
});
afterAll(() => project.remove());

describe.each([
  { name: 'plain-operator', flags: [], hasWebhook: false },
  { name: 'backup-policy-operator', flags: ['--webhook', '--group', 'acme.io'], hasWebhook: true },
])('a new operator, $name, from packed packages', ({ flags, hasWebhook, name }) => {
  let operator: string;
  const { VITEST: _vitest, VITEST_WORKER_ID: _worker, VITEST_POOL_ID: _pool, ...env } = process.env;
  /** @throws with what it has printed */
  const run = (command: string, ...args: string[]): string => {
    const { status, stderr, stdout } = spawnSync(command, args, { cwd: operator, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };

  beforeAll(() => {
    operator = join(project.directory, name);
    const creator = join(project.directory, 'node_modules', 'create-rollkeeper', 'index.mjs');
    execFileSync(process.execPath, [creator, name, ...flags], { cwd: project.directory });
  });

  it('has only what was asked for, and no word of the template', () => {
    expect(existsSync(join(operator, 'src', 'webhook.ts'))).toBe(hasWebhook);
    const files = readdirSync(operator, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.map((entry) => entry.name)).toEqual(
      expect.arrayContaining(['.gitignore', 'ci.yml', 'Dockerfile', 'package.json', 'deployment.yaml']),
    );
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    for (const text of texts) expect(text).not.toMatch(/website|\[webhook|\[vendor/i);
    if (hasWebhook) for (const text of texts) expect(text).not.toContain('example.com');
  });

  it('has types that are right', () => {
    run(process.execPath, join(project.directory, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.');
  });

  it('passes its own tests', () => {
    const vitest = join(project.directory, 'node_modules', 'vitest', 'vitest.mjs');
    expect(run(process.execPath, vitest, 'run', '--root', '.')).toMatch(hasWebhook ? /3 passed/ : /2 passed/);
  });

  it('has the definition and the roles in its chart that its code says', () => {
    const chart = (path: string) => documentsIn(readFileSync(join(operator, 'chart', path), 'utf8'));
    const [crds = ''] = readdirSync(join(operator, 'chart', 'crds'));
    const before = [chart(`crds/${crds}`), chart('templates/rbac.yaml')];
    run('npm', 'run', 'generate');
    const sortRules = (objects: readonly object[]) =>
      objects.map((object) => {
        const { rules } = object as { rules?: readonly object[] };
        return rules ? { ...object, rules: rules.map((rule) => JSON.stringify(rule)).sort() } : object;
      });
    expect(sortRules(before[0]!)).toEqual(sortRules(chart(`crds/${crds}`)));
    expect(sortRules(before[1]!)).toEqual(sortRules(chart('templates/rbac.yaml')));
  });

  it.skipIf(!helm)('has a chart that renders', () => {
    const options = { cwd: operator, env: helmEnv('/nonexistent'), encoding: 'utf8' } as const;
    const text = execFileSync(
      helm!,
      ['template', 'mine', 'chart', '--namespace', 'ops', '--include-crds'],
      options,
    );
    const objects = documentsIn(text);
    const named = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(named).toEqual(
      expect.arrayContaining([`Deployment/${name}`, `ServiceAccount/${name}`, `ClusterRole/${name}`]),
    );
    expect(named.includes(`Service/${name}-webhooks`)).toBe(hasWebhook);
    expect(named.some((each) => each.startsWith('CustomResourceDefinition/'))).toBe(true);
    const placed = objects.filter(({ kind }) =>
      /^(Deployment|Service|ServiceAccount|Role|RoleBinding)$/.test(kind),
    );
    expect(placed.map(({ metadata }) => metadata.namespace)).toEqual(placed.map(() => 'ops'));
  });

  it('runs as the bundle that its image has', async () => {
    run('npm', 'run', 'bundle');
    await using cluster = await startTestCluster({
      ...{ controllers: [], nodes: 0 },
      manifests: { file: join(operator, 'chart', 'crds') },
    });
    const port = await freePort();
    const child = spawn(process.execPath, ['dist/main.mjs'], {
      cwd: operator,
      env: { ...env, ...cluster.env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const program = new StartedProgram(child);
    const isReady = async (): Promise<boolean> => {
      if (program.exitCode !== null) throw new Error(`it has ended: ${program.output}`);
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    };
    try {
      await waitFor(isReady, { what: 'the operator to be ready', timeoutMs: 60_000, intervalMs: 50 });
    } finally {
      await program.end('SIGTERM');
    }
    expect(program.exitCode).toBe(0);
  });

  it('is not written over what is there', () => {
    const again = spawnSync(project.bin, ['generate', 'operator', name], {
      cwd: project.directory,
      encoding: 'utf8',
    });
    expect(again.status).not.toBe(0);
    expect(again.stderr).toMatch(/directory: .* is not empty/);
  });
});
