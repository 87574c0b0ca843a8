import { createManager, stopSignal } from 'rollkeeper';
import { webhookServer } from 'rollkeeper/webhooks';
import { websiteWebhook, websites } from './operator.js';

// No Redis: one replica works, and the others stand by. The Service sends its port 443 to our 9443.
const manager = await createManager({
  name: 'websites',
  coordination: 'leases',
  leaderElection: { namespace: 'websites' },
  probes: { port: 8081, host: '0.0.0.0' },
  extensions: [
    webhookServer({
      webhooks: [websiteWebhook],
      reachedAt: { service: { namespace: 'websites', name: 'websites-webhooks' } },
    }),
  ],
});
await manager.add(websites).run(stopSignal());
