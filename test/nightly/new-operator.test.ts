import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { PackedProject, StartedProgram } from '../e2e/support/packed-project.js';
import type { BuiltStage } from '../image/build-stages.js';
import { buildStages, canGiveAway } from '../image/build-stages.js';
import { parseDockerfile, stepsWithBases } from '../image/dockerfile.js';
import { placeOf } from '../image/started-image.js';
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

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string; readonly kind: string };
  };
}

function definitionFile(operator: string): string {
  const [crds = ''] = readdirSync(join(operator, 'chart', 'crds'));
  return join(operator, 'chart', 'crds', crds);
}

async function becomesReadyAndEnds(
  program: StartedProgram,
  port: number,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    if (program.exitCode !== null) throw new Error(`it has ended: ${program.output}`);
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    return answer?.status === 200;
  };
  try {
    await waitFor(isReady, { what: 'the operator to be ready', timeoutMs: 60_000, intervalMs: 50 });
    await meanwhile();
  } finally {
    await program.end('SIGTERM');
  }
  expect(program.exitCode).toBe(0);
}

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

  it.skipIf(!helm)('has in its chart what a cluster in production asks for', () => {
    const on = ['serviceMonitor', 'networkPolicy'].flatMap((part) => ['--set', `${part}.enabled=true`]);
    const options = { cwd: operator, env: helmEnv('/nonexistent'), encoding: 'utf8' } as const;
    const objects = (...flags: string[]) =>
      documentsIn(
        execFileSync(helm!, ['template', 'mine', 'chart', '--kube-version', '1.32.0', ...flags], options),
      );
    const kinds = (...flags: string[]) => new Set(objects(...flags).map(({ kind }) => kind));
    const asked = ['PodDisruptionBudget', 'ServiceMonitor', 'NetworkPolicy'];
    expect(asked.filter((kind) => kinds().has(kind))).toEqual(['PodDisruptionBudget']);
    expect(asked.filter((kind) => kinds(...on).has(kind))).toEqual(asked);
    expect(kinds('--set', 'podDisruptionBudget.enabled=false').has('PodDisruptionBudget')).toBe(false);
    const deployment = objects().find(({ kind }) => kind === 'Deployment');
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            topologySpreadConstraints: [
              { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels: {} } },
              { topologyKey: 'kubernetes.io/hostname' },
            ],
            containers: [{ resources: { requests: { cpu: '20m', memory: '96Mi' } } }],
          },
        },
      },
    });
    const policy = objects(...on).find(({ kind }) => kind === 'NetworkPolicy');
    expect(JSON.stringify(policy).includes('"port":"webhooks"')).toBe(hasWebhook);
  });

  it('runs as the bundle that its image has', async () => {
    run('npm', 'run', 'bundle');
    const rbac = readFileSync(join(operator, 'chart', 'templates', 'rbac.yaml'), 'utf8');
    await using cluster = await startTestCluster({
      ...{ controllers: [], nodes: 0 },
      manifests: [
        { file: join(operator, 'chart', 'crds') },
        'apiVersion: v1\nkind: Namespace\nmetadata: { name: ops }',
        rbac.replaceAll('{{ .Release.Namespace }}', 'ops'),
      ],
    });
    const account = await cluster.user(`system:serviceaccount:ops:${name}`);
    const port = await freePort();
    const child = spawn(process.execPath, ['dist/main.mjs'], {
      cwd: operator,
      env: { ...env, ...account.env, PORT: String(port), POD_NAMESPACE: 'ops' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const program = new StartedProgram(child);
    await becomesReadyAndEnds(program, port, async () => {
      if (hasWebhook) return; // Nothing reaches its Service here.
      const metadata = { namespace: 'default', name: 'one' };
      const [kind] = documentsIn(readFileSync(definitionFile(operator), 'utf8')) as unknown as Definition[];
      const { group, names } = kind!.spec;
      const type = { group, version: 'v1', resource: names.plural, kind: names.kind, namespaced: true };
      const object = { apiVersion: `${group}/v1`, kind: names.kind, metadata, spec: { image: 'one:1' } };
      await cluster.client.create(type, object);
      await cluster.waitFor('deployments/one', 'create');
    });
    expect(program.output).not.toMatch(/forbidden/i);
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

describe('the image of a new operator', () => {
  let operator: string;
  let built: BuiltStage;

  /** As its README says, with packages that are brought along: it is installed, and its Dockerfile carried out, stage by stage. */
  beforeAll(() => {
    operator = join(project.directory, 'image-operator');
    const packages = join(project.directory, 'packages');
    mkdirSync(packages);
    project.packInto(packages);
    const flags = ['generate', 'operator', 'image-operator', '--packages', packages];
    execFileSync(process.execPath, [project.bin, ...flags], { cwd: project.directory });
    const { VITEST: _vitest, ...env } = process.env;
    execFileSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], {
      cwd: operator,
      env,
    });
    const stages = parseDockerfile(readFileSync(join(operator, 'Dockerfile'), 'utf8'));
    built = buildStages(stages, join(project.directory, 'image'), () => undefined, operator);
  });

  it('has the bundle and nothing else, and starts by the command and as the user that it names', async () => {
    const stages = parseDockerfile(readFileSync(join(operator, 'Dockerfile'), 'utf8'));
    const last = stages.at(-1);
    if (!last) throw new Error('the Dockerfile has no stage');
    const image = { built, steps: stepsWithBases(last, stages) };
    const [command = '', ...args] = image.steps.find(({ keyword }) => keyword === 'CMD')?.words ?? [];
    expect(command).toBe('node');
    const files = readdirSync(built.root, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    expect(files.filter(({ name }) => !name.endsWith('.mjs'))).toEqual([]);
    await using cluster = await startTestCluster({
      ...{ controllers: [], nodes: 0 },
      manifests: { file: join(operator, 'chart', 'crds') },
    });
    const port = await freePort();
    const { uid, ...place } = placeOf(image, { ...cluster.env, PORT: String(port) });
    if (canGiveAway) expect(uid).toBe(1000);
    // Only this user may read the temporary folder, and the container's user must be able to read what is mounted.
    chmodSync(project.directory, 0o755);
    const kubeconfig = join(project.directory, 'mounted-kubeconfig');
    copyFileSync(cluster.kubeconfig.path, kubeconfig);
    if (uid !== undefined && place.gid !== undefined) chownSync(kubeconfig, uid, place.gid);
    const child = spawn(process.execPath, args, {
      ...{ ...place, uid },
      env: { ...place.env, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const program = new StartedProgram(child);
    await becomesReadyAndEnds(program, port);
  });
});
