import { createManager, stopSignal } from 'rollkeeper';
import { webhookServer } from 'rollkeeper/webhooks';
import { websiteWebhook, websites } from './operator.js';
import { probes, reached } from './place.js';

// By the Redis of REDIS_URL: all replicas work.
const manager = await createManager({
  name: 'websites',
  leaderElection: { namespace: 'websites' },
  probes,
  extensions: [webhookServer({ webhooks: [websiteWebhook], ...reached })],
});
await manager.add(websites).run(stopSignal());
