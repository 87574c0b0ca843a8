import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { Deployment, Service, applyDependents, generationChanged, updateStatus } from 'rollkeeper';
import type { Lister, ReconcileContext, ReconcileRequest, Reconciler } from 'rollkeeper';
import { InjectLister, Reconciles, RollkeeperModule, Webhook } from 'rollkeeper/nest';
import { webhookServer } from 'rollkeeper/webhooks';
import type { AdmissionRequest, Verdict, WebhookHandlers } from 'rollkeeper/webhooks';
import { WRITES, Website, partsOf } from './operator.js';
import { reached } from './place.js';

/** `npx rollkeeper generate rbac nest.js --name websites`, once it is compiled: Node runs no decorators. */
@Reconciles(Website, {
  predicates: [generationChanged],
  owns: [Deployment, Service],
  pausable: true,
  writes: WRITES,
})
export class Websites implements Reconciler<Website> {
  constructor(@InjectLister(Deployment) private readonly deployments: Lister<Deployment>) {}

  async reconcile({ key }: ReconcileRequest, context: ReconcileContext<Website>): Promise<void> {
    const { client, object } = context;
    if (!object) return;
    await applyDependents(context, object, partsOf(object), { fieldManager: 'websites' });
    const available = this.deployments.get(key)?.status?.availableReplicas ?? 0;
    const ready = available >= object.spec.replicas;
    await updateStatus(client, Website, object, { replicas: available, ready });
  }
}

@Webhook(Website)
export class WebsiteWebhook implements WebhookHandlers<Website> {
  default(website: Website): void {
    website.spec.host = website.spec.host.toLowerCase();
  }

  validate({ spec: { host } }: Website, { warn }: AdmissionRequest<Website>): Verdict {
    if (host.endsWith('.local')) warn(`${host} cannot be reached from other networks`);
    return /\s/.test(host) ? { field: 'spec.host', message: 'must not contain spaces' } : undefined;
  }
}

@Module({
  imports: [
    RollkeeperModule.forRoot({
      name: 'websites',
      coordination: 'leases',
      leaderElection: { namespace: 'websites' },
      webhooks: webhookServer(reached),
    }),
    RollkeeperModule.forFeature([Websites, WebsiteWebhook]),
  ],
})
export class AppModule {}
