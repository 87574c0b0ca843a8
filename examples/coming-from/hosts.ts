import {
  ConfigMap,
  createManager,
  defineController,
  defineCustomKind,
  serverSideApply,
  stopSignal,
} from 'rollkeeper';
import type { ObjectOf } from 'rollkeeper';
import { z } from 'zod';

export const Website = defineCustomKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  spec: z.object({ host: z.string() }),
});
export type Website = ObjectOf<typeof Website>;

/** Every Website has a ConfigMap of its name with its host. */
export const hosts = defineController({
  name: 'hosts',
  for: Website,
  owns: [ConfigMap],
  async reconcile({ name, namespace }, { client, object }) {
    if (!object) return;
    const map = { metadata: { namespace, name }, data: { host: object.spec.host } };
    await serverSideApply(client, ConfigMap, map, { fieldManager: 'hosts', owner: object });
  },
});

export async function main(): Promise<void> {
  const manager = await createManager({ name: 'hosts', coordination: 'leases' });
  await manager.add(hosts).run(stopSignal());
}
