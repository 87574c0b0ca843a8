import { createManager, stopSignal } from 'rollkeeper';
import { webhookServer } from 'rollkeeper/webhooks';
import { websiteWebhook, websites } from './operator.js';
import { probes, reached } from './place.js';

// No Redis: one replica works, and the others stand by.
const manager = await createManager({
  name: 'websites',
  coordination: 'leases',
  leaderElection: { namespace: 'websites' },
  probes,
  extensions: [webhookServer({ webhooks: [websiteWebhook], ...reached })],
});
await manager.add(websites).run(stopSignal());
