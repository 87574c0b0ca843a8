import { createManager, stopSignal } from '@rollkeeper/runtime';
// [webhook
import { webhookServer } from '@rollkeeper/webhooks';
// webhook]
import { websites } from './controller.ts';
// [webhook
import { websiteWebhook } from './webhook.ts';
// webhook]

const namespace = process.env['POD_NAMESPACE'] ?? 'default';

// No Redis: one replica works, and the others stand by with warm caches.
const manager = await createManager({
  name: 'website-operator',
  coordination: 'leases',
  leaderElection: { namespace },
  probes: { port: Number(process.env['PORT'] ?? 8081), host: '0.0.0.0' },
  // [webhook
  extensions: [
    webhookServer({
      webhooks: [websiteWebhook],
      // The Service sends its port 443 to our 9443.
      reachedAt: { service: { namespace, name: 'website-operator-webhooks' } },
    }),
  ],
  // webhook]
});
await manager.add(websites).run(stopSignal());
