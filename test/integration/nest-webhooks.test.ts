import 'reflect-metadata';
import { Injectable, Inject, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { expect, it } from 'vitest';
import type { CreateManagerOptions, Reconciler } from '../../src/runtime/index.js';
import { ConfigMap, Namespace, silentLogger } from '../../src/runtime/index.js';
import type { RollkeeperModuleExtras } from '../../src/nest/index.js';
import { Reconciles, RollkeeperModule, Webhook } from '../../src/nest/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { AdmissionRequest, WebhookHandlers } from '../../src/webhooks/index.js';
import { webhookServer } from '../../src/webhooks/index.js';

@Injectable()
class Words {
  readonly forbidden = 'nonsense';
}

@Webhook(ConfigMap)
class ConfigMapWebhook implements WebhookHandlers<ConfigMap> {
  constructor(@Inject(Words) private readonly words: Words) {}

  default(map: ConfigMap): void {
    map.data = { ...map.data, filled: 'in' };
  }

  validate({ data = {} }: ConfigMap, { operation }: AdmissionRequest<ConfigMap>): string | undefined {
    return Object.values(data).includes(this.words.forbidden) ? `${operation} of nonsense` : undefined;
  }
}

@Reconciles(Namespace)
class Quiet implements Reconciler<Namespace> {
  async reconcile(): Promise<void> {}
}

@Module({ providers: [Words], exports: [Words] })
class WordsModule {}

const application = (options: CreateManagerOptions & RollkeeperModuleExtras) =>
  Test.createTestingModule({
    imports: [
      RollkeeperModule.forRoot(options),
      RollkeeperModule.forFeature([ConfigMapWebhook, Quiet], [WordsModule]),
    ],
  }).compile();

it('serves the classes with @Webhook, with what is injected into them', async () => {
  await using cluster = await startTestCluster({ controllers: [], nodes: 0 });
  const port = await freePort();
  const webhooks = webhookServer({
    port,
    host: '127.0.0.1',
    reachedAt: { url: `https://127.0.0.1:${port}` },
  });
  const module = await application({
    ...{ name: 'nest-hooks', kubeconfig: cluster.kubeconfig.path, logger: silentLogger },
    ...{ coordination: 'local', probeRoutes: false, webhooks },
  });
  const app = module.createNestApplication({ logger: false });
  await app.init();
  const create = (name: string, data: Record<string, string>) =>
    cluster.client.create(ConfigMap, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data },
    });
  let tries = 0;
  const made = await waitFor(
    async () => {
      const { data } = await create(`good-${++tries}`, { a: '1' });
      return data?.['filled'] && data;
    },
    { what: 'a filled ConfigMap' },
  );
  expect(made).toEqual({ a: '1', filled: 'in' });
  await expect(create('bad', { a: 'nonsense' })).rejects.toThrow('denied the request: CREATE of nonsense');
  await app.close();
});

it('names a webhook that there is no server for', async () => {
  const module = await application({
    ...{ name: 'nest-hooks', kubeconfig: '/dev/null', logger: silentLogger, client: {} as never },
    ...{ coordination: 'local', probeRoutes: false },
  });
  const app = module.createNestApplication({ logger: false });
  await expect(app.init()).rejects.toThrow(
    'webhooks: configmaps.core.k8s.io: RollkeeperModule.forRoot needs',
  );
});
