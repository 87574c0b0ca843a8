import { execFile, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { errorMessage } from '../../src/machinery/errors/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { helm } from '../unit/support/helm.js';
import { runCheck } from './check.js';
import type { CheckResult, ClientCheck, ForeignClient } from './check.js';
import { CLIENT_NODE_CHECKS } from './client-node/index.js';
import { HELM_CHECKS } from './helm/checks.js';

const run = promisify(execFile);
/** Debian's package is for its own Python, another may come first in PATH. */
const PYTHONS = ['python3', '/usr/bin/python3'];
const PYTHON_VERSION = 'import kubernetes; print(kubernetes.__version__)';
const FLUENT = join(import.meta.dirname, 'fluent');

const present = async (): Promise<undefined> => undefined;

const clientNode: ForeignClient = {
  name: '@kubernetes/client-node',
  missing: present,
  version: async () => versionIn(import.meta.filename, '@kubernetes/client-node'),
  check: (cluster) =>
    inProcess(CLIENT_NODE_CHECKS, (check, index) => runCheck(check, cluster, `client-node-${index}`)),
};

const fluentClient: ForeignClient = {
  name: 'kubernetes-fluent-client',
  async missing() {
    const installed = await this.version().then(
      () => true,
      () => false,
    );
    return installed ? undefined : `it is not installed: npm ci --prefix ${FLUENT}`;
  },
  version: async () => versionIn(join(FLUENT, 'checks.mjs'), 'kubernetes-fluent-client'),
  check: (cluster) => asProgram(process.execPath, join(FLUENT, 'checks.mjs'), cluster),
};

const python: ForeignClient = {
  name: 'kubernetes (Python)',
  async missing() {
    return (await findPython()) ? undefined : 'no python3 here has it: apt-get install python3-kubernetes';
  },
  async version() {
    return (await findPython())?.version ?? 'none';
  },
  async *check(cluster) {
    const found = await findPython();
    if (!found) throw new Error('there is no Python');
    yield* asProgram(found.path, join(import.meta.dirname, 'python', 'checks.py'), cluster);
  },
};

const helmClient: ForeignClient = {
  name: 'Helm',
  missing: async () => (helm ? undefined : 'there is no helm in PATH, and none could be fetched'),
  version: async () => (await run(helm ?? 'helm', ['version', '--short'])).stdout.trim(),
  async *check(cluster) {
    const namespace = 'helm';
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    yield* inProcess(HELM_CHECKS, (check) => check.run({ cluster, namespace }));
  },
};

/** Clients that were not written for this server. */
export const FOREIGN_CLIENTS: readonly ForeignClient[] = [clientNode, fluentClient, python, helmClient];

async function* inProcess(
  checks: readonly ClientCheck[],
  carryOut: (check: ClientCheck, index: number) => Promise<void>,
): AsyncGenerator<CheckResult> {
  for (const [index, check] of checks.entries()) {
    const error = await carryOut(check, index).then(
      () => undefined,
      (failure: unknown) => (failure instanceof Error && failure.stack) || errorMessage(failure),
    );
    yield { name: check.name, error };
  }
}

/** A program that prints a result a line. One that ends badly has failed as a whole. */
async function* asProgram(
  program: string,
  script: string,
  cluster: TestCluster,
): AsyncGenerator<CheckResult> {
  const env = { ...process.env, ...cluster.env };
  const child = spawn(program, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  for await (const line of createInterface(child.stdout)) yield JSON.parse(line) as CheckResult;
  const exitCode = await ended;
  if (exitCode !== 0) yield { name: 'comes to its end', error: `exit code ${exitCode}: ${said}` };
}

async function findPython(): Promise<{ path: string; version: string } | undefined> {
  for (const path of PYTHONS) {
    const version = await run(path, ['-c', PYTHON_VERSION]).then(
      ({ stdout }) => stdout.trim(),
      () => undefined,
    );
    if (version !== undefined) return { path, version };
  }
  return undefined;
}

/** The version of a package as a file would import it. */
function versionIn(file: string, name: string): string {
  const [folder = ''] = createRequire(file).resolve(name).split(`${name}/dist`);
  return (createRequire(file)(join(folder, name, 'package.json')) as { version: string }).version;
}
