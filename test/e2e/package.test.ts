import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PackedProject } from './support/packed-project.js';
import { Up } from './support/up.js';

/** Modules that an import of the kit must not load. */
const HEAVY = /node_modules\/(@nestjs|@bull-board|express|commander|helmet|lit-html|vitest)\//;
/** Loaded where it is used. */
const ADAPTERS = /node_modules\/(bullmq|ioredis|@opentelemetry\/(sdk|exporter))/;

/** Imports a door and prints its exports, and what was loaded for it; ends, because nothing was started. */
const importing = (door: string): string => `
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({ resolve(name, context, next) { const found = next(name, context); loaded.add(found.url); return found; } });
  const exports = Object.keys(await import('${door}'));
  console.log(JSON.stringify({ exports, loaded: [...loaded] }));
`;

const STRANGER = `
import { Deployment, createManager, defineController, defineKind, serverSideApply } from 'rollkeeper';
import type { Condition, KubernetesObject, ReconcileContext, Reconciler, ReconcileRequest } from 'rollkeeper';
import { Reconciles, RollkeeperModule } from 'rollkeeper/nest';
import { FakeClock, memoryCoordination, startTestCluster } from 'rollkeeper/testing';
import type { TestCluster } from 'rollkeeper/testing';
import { runWorkQueueContract } from 'rollkeeper/testing/contracts';

interface Website extends KubernetesObject {
  spec: { url: string };
  status?: { conditions?: Condition[] };
}
const Website = defineKind<Website>({ group: 'example.com', version: 'v1', kind: 'Website' });

export const websites = defineController({
  name: 'websites',
  for: Website,
  owns: [Deployment],
  async reconcile(request, { client, object, owned }) {
    const url: string | undefined = object?.spec.url;
    const replicas: number | undefined = owned(Deployment)[0]?.spec.replicas;
    // @ts-expect-error what a cache holds is read-only
    if (object) object.spec.url = 'other';
    // @ts-expect-error a spec has no such field
    void object?.spec.color;
    await serverSideApply(client, Deployment, { metadata: request, spec: { replicas } }, { fieldManager: 'me' });
    // @ts-expect-error a number is wanted
    await serverSideApply(client, Deployment, { metadata: request, spec: { replicas: 'two' } }, { fieldManager: 'me' });
    return url === undefined ? {} : { requeueAfterMs: 1000 };
  },
});

// @ts-expect-error this reconciles another kind
@Reconciles(Website)
class Wrong implements Reconciler<Deployment> {
  async reconcile(request: ReconcileRequest, context: ReconcileContext<Deployment>) {}
}

export const module = RollkeeperModule.forRootAsync({ useFactory: () => ({ name: 'stranger' }) });
export const manager = createManager({ name: 'stranger', coordination: memoryCoordination(new FakeClock()), onlyProcess: true });
export const cluster: Promise<TestCluster> = startTestCluster({ nodes: 0, controllers: ['deployment', websites] });
export const suites = [runWorkQueueContract, Wrong];
`;

/** Does it once; what is answered fails as it did. */
function outcomeOf(action: () => void): () => void {
  try {
    action();
    return () => undefined;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

describe('the packed package in an empty project', () => {
  let project: PackedProject;
  /**
   * The outcome of compiling a stranger's code and the guide's code together, because the compiler is slow to start.
   */
  let compiled: () => void;
  beforeAll(() => {
    project = new PackedProject();
    const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'KIT.md'), 'utf8');
    const [operator, main, test] = [...guide.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
    project.write('stranger.ts', STRANGER);
    project.write('ceiling.ts', operator ?? '');
    project.write('main.ts', main ?? '');
    project.write('ceiling.test.ts', test ?? '');
    compiled = outcomeOf(() => project.compile());
  });
  afterAll(() => project.remove());

  it('has a kit that loads neither Nest nor a console, and no client of Redis before it is used', () => {
    const { exports, loaded } = project.evaluate<{ exports: string[]; loaded: string[] }>(
      importing('rollkeeper'),
    );
    expect(exports).toEqual(expect.arrayContaining(['createManager', 'defineController', 'withFinalizer']));
    expect(loaded.filter((url) => HEAVY.test(url) || ADAPTERS.test(url))).toEqual([]);
    expect(
      loaded.filter((url) =>
        /@rollkeeper\/(apiserver|controllers|simulator|testing|redis|nest|opentelemetry)\/|rollkeeper\/dist\/rollkeeper\/(?!doors\/)/.test(
          url,
        ),
      ),
    ).toEqual([]);
  });

  it.each([
    { door: 'rollkeeper/nest', names: ['RollkeeperModule', 'Reconciles', 'InjectLister'] },
    { door: 'rollkeeper/admin', names: ['adminPages'] },
    { door: 'rollkeeper/redis', names: ['redisCoordination', 'BullMqWorkQueue'] },
    { door: 'rollkeeper/opentelemetry', names: ['createMetrics', 'startTracing'] },
    { door: 'rollkeeper/testing', names: ['FakeClock', 'memoryCoordination', 'startTestCluster'] },
    { door: 'rollkeeper/testing/faults', names: ['startFaults', 'SteppedClock'] },
    { door: 'rollkeeper/testing/simulation', names: ['simulateOperator', 'FAULT_KINDS'] },
  ])('has the door $door', ({ door, names }) => {
    const { exports, loaded } = project.evaluate<{ exports: string[]; loaded: string[] }>(importing(door));
    expect(exports).toEqual(expect.arrayContaining(names));
    expect(loaded.filter((url) => url.includes('/vitest/'))).toEqual([]);
    expect(loaded.some((url) => HEAVY.test(url))).toBe(
      ['rollkeeper/nest', 'rollkeeper/admin'].includes(door),
    );
  });

  it('names the package of what is neither given nor installed', () => {
    const attempt = `
      const { createManager } = await import('@rollkeeper/runtime');
      const { code, message } = await createManager({ name: 'some', redisUrl: 'redis://127.0.0.1:1' }).catch((error) => error);
      console.log(JSON.stringify({ code, message }));`;
    const without = project.without('@rollkeeper/redis', () => project.evaluate(attempt));
    expect(without).toEqual({
      code: 'INVALID_OPTION',
      message: 'coordination: needs the package @rollkeeper/redis where it is not given; install it',
    });
  });

  it('keeps everything else to itself', () => {
    const attempt = `await import('rollkeeper/dist/main.js').then(() => console.log('"open"'), ({ code }) => console.log(JSON.stringify(code)));`;
    expect(project.evaluate(attempt)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('has types that tell right from wrong', () => {
    expect(compiled).not.toThrow();
  });

  it('does what docs/KIT.md says, as it says it', () => {
    expect(compiled).not.toThrow();
    expect(project.vitest('ceiling.test.ts')).toMatch(/1 passed/);
  });

  it('brings everything up with `npx rollkeeper up`', async () => {
    const up = await Up.start({ main: project.bin, args: ['--replicas', '1', '--nodes', '1'] });
    try {
      const client = await up.client();
      await client.ping();
      await client.close();
    } finally {
      await up.stopAndRemove();
    }
  });
});
