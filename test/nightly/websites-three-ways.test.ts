import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { PackedProject } from '../e2e/support/packed-project.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'websites');

/**
 * Plain without a Redis, plain on Redis, and with Nest: each is killed in its middle, by the tests that the example has itself. With
 * `USE_EXISTING_CLUSTER` on that cluster (docs/TESTING.md#on-a-cluster-of-your-own).
 */
describe('the operator of Websites, three ways, outside of the repository,', () => {
  let project: PackedProject;

  /** The output of a script. @throws with its output */
  const run = async (script: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const { PATH, HOME, KUBECONFIG, USE_EXISTING_CLUSTER, WEBHOOK_HOST, IMAGE } = process.env;
    const existing = USE_EXISTING_CLUSTER && { KUBECONFIG, USE_EXISTING_CLUSTER, WEBHOOK_HOST, IMAGE };
    const options = {
      ...{ cwd: project.directory, maxBuffer: 1e8 },
      env: { PATH, HOME, NO_COLOR: '1', ...existing, ...env },
    };
    const { stderr, stdout } = await promisify(execFile)('npm', ['run', script], options).catch(
      ({ stderr = '', stdout = '' }: { stderr?: string; stdout?: string }) => {
        throw new Error(`npm run ${script}: ${stdout}${stderr}`);
      },
    );
    return stdout + stderr;
  };

  beforeAll(async () => {
    project = new PackedProject();
    for (const folder of ['.', 'project'])
      cpSync(join(EXAMPLE, folder), project.directory, { recursive: true });
    mkdirSync(join(project.directory, 'generated'));
    const manifest = JSON.parse(readFileSync(join(EXAMPLE, 'project', 'package.json'), 'utf8')) as {
      devDependencies: { jest: string };
    };
    project.install('jest', manifest.devDependencies.jest);
    await run('build');
    await run('generate');
  });
  afterAll(() => project.remove());

  it('has the definition of an interface by its comments, as docs/KIT.md says', async () => {
    const guide = readFileSync(join(EXAMPLE, '..', '..', 'docs', 'KIT.md'), 'utf8');
    const [code = ''] = [...guide.matchAll(/```ts\n(.*?)```/gs)].flatMap(([, each = '']) =>
      each.includes('@crd') ? [each] : [],
    );
    const head = `import { defineKind } from 'rollkeeper';\nimport type { Condition, KubernetesObject } from 'rollkeeper';\n`;
    project.write('kinds.ts', head + code);
    const { stdout } = await promisify(execFile)(project.bin, ['generate', 'crd', 'kinds.ts'], {
      cwd: project.directory,
    });
    const { spec } = parse(stdout) as { spec: { versions: { schema: { openAPIV3Schema: object } }[] } };
    expect(spec.versions[0]?.schema.openAPIV3Schema).toMatchObject({
      description: 'A website.',
      properties: {
        spec: {
          required: ['host'],
          properties: { replicas: { type: 'integer', minimum: 0, maximum: 10, default: 2 } },
          'x-kubernetes-validations': [{ rule: 'self.host == oldSelf.host', message: 'host is immutable' }],
        },
      },
    });
  });

  it.each([
    { runner: 'vitest', passed: /Tests +4 passed/ },
    { runner: 'jest', passed: /Tests: +4 passed/ },
    { runner: 'node', passed: /pass 4/ },
  ])('goes on under $runner when its leader is killed', async ({ passed, runner }) => {
    // The claim of a cluster on its keys would outlive the cluster.
    const redis = await startTestRedisServer();
    try {
      expect(await run(`test:${runner}`, { REDIS_URL: redis.url })).toMatch(passed);
    } finally {
      await redis.stop();
    }
  });
});
