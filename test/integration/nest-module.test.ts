import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import type { INestApplication, Type } from '@nestjs/common';
import { Inject, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type {
  ApiClient,
  Decided,
  DecidingReconciler,
  DeepReadonly,
  SyncObserver,
  ControllerDefinition,
  CreateManagerOptions,
  Lister,
  ReconcileContext,
  ReconcileRequest,
  Reconciler,
} from '../../src/runtime/index.js';
import {
  ControllerManager,
  Deployment,
  Namespace,
  defineController,
  generationChanged,
  silentLogger,
} from '../../src/runtime/index.js';
import type { RollkeeperModuleExtras } from '../../src/nest/index.js';
import {
  InjectApiClient,
  InjectLister,
  Reconciles,
  RollkeeperHealthIndicator,
  RollkeeperModule,
  listerToken,
} from '../../src/nest/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { aDeployment } from '../../src/testing/deployment-builder.js';
import { memoryCoordination } from '../../src/runtime/operator/coordination/memory-coordination.js';
import { waitFor as waitForUpTo } from '../../src/testing/wait-for.js';

const waitFor = <T>(what: string, condition: () => T | undefined | false | Promise<T | undefined | false>) =>
  waitForUpTo(condition, { what, intervalMs: 20 });

@Injectable()
class Notebook {
  readonly notes: string[] = [];
  isOpen = true;

  /** As a database connection that goes with the application. */
  onApplicationShutdown(): void {
    this.isOpen = false;
  }
}

@Module({ providers: [Notebook], exports: [Notebook] })
class NotebookModule {}

@Reconciles(Deployment, { predicates: [generationChanged], workers: 2 })
class TeamLabels implements Reconciler<Deployment> {
  constructor(
    @InjectLister(Namespace) private readonly namespaces: Lister<Namespace>,
    @Inject(Notebook) private readonly notebook: Notebook,
  ) {}

  async reconcile({ name, namespace = '' }: ReconcileRequest, { object }: ReconcileContext<Deployment>) {
    if (!object) return;
    const { phase } = this.namespaces.get(namespace)?.status ?? {};
    this.notebook.notes.push(`${name} in ${namespace} (${phase}), open: ${this.notebook.isOpen}`);
  }
}

@Reconciles(Deployment, { name: 'looks-on' })
class Onlooker implements Reconciler<Deployment> {
  constructor(@InjectApiClient() readonly client: ApiClient) {}
  async reconcile(): Promise<void> {}
}

@Reconciles(Deployment, { predicates: [generationChanged], reads: [Namespace] })
class Ceiling implements DecidingReconciler<Deployment, DeepReadonly<Deployment>, string> {
  constructor(@Inject(Notebook) private readonly notebook: Notebook) {}

  observe(_request: ReconcileRequest, { object }: ReconcileContext<Deployment>) {
    return object;
  }

  decide({ metadata: { name } }: DeepReadonly<Deployment>): Decided<string> {
    return { decision: { branch: 'look', summary: `looked at ${name}`, changes: true }, plan: name };
  }

  async act(name: string): Promise<void> {
    this.notebook.notes.push(`acted on ${name}`);
  }
}

describe('a Nest application with the kit', () => {
  let api: TestCluster;
  let app: INestApplication | undefined;
  beforeAll(async () => void (api = await startTestCluster({ controllers: [], nodes: 0 })));
  afterAll(() => api.stop());
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  const options = (): CreateManagerOptions => ({
    name: 'nest-test',
    kubeconfig: api.kubeconfig.path,
    logger: silentLogger,
    coordination: memoryCoordination(),
    onlyProcess: true,
    cache: { freeze: true },
  });

  async function startApp(
    features: readonly (Type | ControllerDefinition)[],
    extras: RollkeeperModuleExtras & Partial<CreateManagerOptions> = {},
  ): Promise<INestApplication> {
    const module = await Test.createTestingModule({
      imports: [
        RollkeeperModule.forRoot({ ...options(), ...extras }),
        RollkeeperModule.forFeature(features, [NotebookModule]),
      ],
    }).compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    return app;
  }

  it('runs what reconciles, with its injections, for as long as it lives', async () => {
    const application = await startApp([TeamLabels, Onlooker]);
    const manager = application.get(ControllerManager);
    expect(manager.controllers.map(({ controller: { name, workers } }) => `${name} ${workers}`)).toEqual([
      'team-labels 2',
      'looks-on 5',
    ]);
    expect(application.get(Onlooker).client).toBe(manager.client);
    const name = `web-${randomUUID().slice(0, 4)}`;
    const { metadata: _, ...deployment } = aDeployment();
    await api.client.create(Deployment, { ...deployment, metadata: { name, namespace: 'default' } });
    const { notes } = application.get(Notebook);
    await waitFor('the sync', () => notes.includes(`${name} in default (Active), open: true`));
    await application.close();
    app = undefined;
    expect(manager.state).toBe('stopped');
  });

  it('runs what observes, decides and acts, and whoever observes is told what it decides', async () => {
    const told: string[] = [];
    const observer: SyncObserver = {
      begin: ({ controller, key }) => ({
        decided: ({ summary }) => void told.push(`${controller} ${key}: ${summary}`),
      }),
    };
    const application = await startApp([Ceiling], { observers: [observer] });
    const name = `web-${randomUUID().slice(0, 4)}`;
    const { metadata: _, ...deployment } = aDeployment();
    await api.client.create(Deployment, { ...deployment, metadata: { name, namespace: 'default' } });
    const { notes } = application.get(Notebook);
    await waitFor('the sync', () => notes.includes(`acted on ${name}`));
    expect(told).toContain(`ceiling default/${name}: looked at ${name}`);
    const { signal } = new AbortController();
    const plan = await application.get(ControllerManager).plan('ceiling', `default/${name}`, signal);
    expect(plan).toMatchObject({ decisions: [{ branch: 'look' }], writes: [] });
  });

  it('answers probes and metrics on its own port, by terminus', async () => {
    const application = await startApp([Onlooker]);
    const url = await application.getUrl();
    await waitFor('readiness', async () => (await fetch(`${url}/readyz`)).status === 200);
    const ready = (await (await fetch(`${url}/readyz`)).json()) as object;
    expect(ready).toMatchObject({
      status: 'ok',
      details: { 'controller-looks-on': { status: 'up' }, 'informers-synced': { status: 'up' } },
    });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.headers.get('content-type')).toContain('version=0.0.4');
    expect(await metrics.text()).toContain('controller_runtime_reconcile_total{controller="looks-on"');
    application.get(ControllerManager).health.add('readyz', {
      name: 'mine',
      check: () => Promise.reject(new Error('not yet')),
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const checks = application.get(RollkeeperHealthIndicator).checks('readyz');
    const down = (await Promise.all(checks.map((check) => check()))).find((result) => 'mine' in result);
    expect(down).toMatchObject({ mine: { status: 'down' } });
  });

  it('has no routes where it wants none', async () => {
    const application = await startApp([Onlooker], { probeRoutes: false });
    expect((await fetch(`${await application.getUrl()}/readyz`)).status).toBe(404);
  });

  it('takes controllers that were defined without Nest, and lets its manager be run by who wants to', async () => {
    const keys: string[] = [];
    const defined = defineController({
      name: 'defined',
      for: Namespace,
      reconcile: async ({ name }) => void keys.push(name),
    });
    const manager = (await startApp([Onlooker, defined], { autoRun: false })).get(ControllerManager);
    expect(manager.controllers.map(({ controller: { name } }) => name).sort()).toEqual([
      'defined',
      'looks-on',
    ]);
    expect(manager.health.of('readyz').map(({ name }) => name)).toContain('controller-defined');
    expect(manager.state).toBe('created');
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await waitFor('a sync', () => keys.includes('default'));
    stop.abort(new Error('enough'));
    await running;
    expect(manager.state).toBe('stopped');
  });

  it('does not start without controllers', async () => {
    await expect(startApp([])).rejects.toThrow('a manager without controllers has nothing to do');
  });

  it('takes its options from other providers, and other caches in tests', async () => {
    const fake = { get: () => undefined, list: () => [], byIndex: () => [] };
    const module = await Test.createTestingModule({
      imports: [
        RollkeeperModule.forRootAsync({ useFactory: async () => options() }),
        RollkeeperModule.forFeature([TeamLabels], [NotebookModule]),
      ],
    })
      .overrideProvider(listerToken(Namespace))
      .useValue(fake)
      .compile();
    expect(module.get(ControllerManager).identity).toMatch(/-\d+-/);
    expect(module.get<unknown>(listerToken(Namespace))).toBe(fake);
    await module.close();
  });

  it('does not live on when its manager has failed, as far as probes can tell', async () => {
    const failing = { run: () => Promise.reject(new Error('the disk is full')) };
    const application = await startApp([Onlooker], { background: [failing] });
    const url = await application.getUrl();
    await waitFor('the failure', async () => {
      const response = await fetch(`${url}/livez`);
      return response.status === 503 && (await response.text()).includes('the disk is full');
    });
  });

  it('names the option that is wrong', async () => {
    await expect(startApp([Onlooker], { name: 'Not A Name' })).rejects.toMatchObject({ option: 'name' });
  });
});
