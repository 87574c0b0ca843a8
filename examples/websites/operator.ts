import {
  Deployment,
  Service,
  applyDependents,
  defineController,
  defineCustomKind,
  dependent,
  generationChanged,
  updateStatus,
  withRules,
} from 'rollkeeper';
import type { DeepReadonly, Dependent, ObjectOf, WriteRight } from 'rollkeeper';
import { defineWebhook } from 'rollkeeper/webhooks';
import { z } from 'zod';

/** `npx rollkeeper generate crd operator.ts | kubectl apply -f -` */
export const Website = defineCustomKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  shortNames: ['ws'],
  spec: withRules(
    z.object({
      host: z.string().min(1).describe('The name that it is reached by.'),
      image: z.string().min(1),
      replicas: z.int().min(0).max(10).default(2),
    }),
    { rule: 'self.host == oldSelf.host', message: 'host is immutable' },
  ),
  status: z.object({ replicas: z.int().optional(), ready: z.boolean().optional() }),
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  columns: [
    { name: 'Host', jsonPath: '.spec.host' },
    { name: 'Ready', jsonPath: '.status.ready', type: 'boolean' },
  ],
});
export type Website = ObjectOf<typeof Website>;

/** A Website is a Deployment behind a Service. */
export function partsOf({
  metadata: { name },
  spec: { image, replicas },
}: DeepReadonly<Website>): Dependent[] {
  const labels = { website: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
  return [
    dependent(Deployment, {
      metadata: { name },
      spec: { replicas, selector: { matchLabels: labels }, template },
    }),
    dependent(Service, {
      metadata: { name },
      spec: { selector: labels, ports: [{ port: 80, protocol: 'TCP' }] },
    }),
  ];
}

/** For its roles: `npx rollkeeper generate rbac operator.ts --name websites`. */
export const WRITES: readonly WriteRight[] = [
  { kind: Website, verbs: [], subresources: ['status', 'finalizers'] },
  // To apply what is not there yet is to create it.
  { kind: Deployment, verbs: ['create', 'patch', 'delete'] },
  { kind: Service, verbs: ['create', 'patch', 'delete'] },
];

export const websites = defineController({
  name: 'websites',
  for: Website,
  predicates: [generationChanged],
  owns: [Deployment, Service],
  pausable: true,
  writes: WRITES,
  async reconcile(_request, context) {
    const { client, object, owned } = context;
    if (!object) return;
    await applyDependents(context, object, partsOf(object), { fieldManager: 'websites' });
    const available = owned(Deployment)[0]?.status?.availableReplicas ?? 0;
    const ready = available >= object.spec.replicas;
    await updateStatus(client, Website, object, { replicas: available, ready });
  },
});

/** No two names of one website, and a word about names that the world cannot reach. */
export const websiteWebhook = defineWebhook(Website, {
  default(website) {
    website.spec.host = website.spec.host.toLowerCase();
  },
  validate({ spec: { host } }, { warn }) {
    if (host.endsWith('.local')) warn(`${host} cannot be reached from other networks`);
    return /\s/.test(host) ? { field: 'spec.host', message: 'must not contain spaces' } : undefined;
  },
});
