import type { WebhookServerOptions } from 'rollkeeper/webhooks';

const { PORT = '8081', WEBHOOK_URL } = process.env;

/** The address that kubelet probes. */
export const probes = { port: Number(PORT), host: '0.0.0.0' };

/** In a cluster a Service sends its port 443 to our 9443. Outside of one, each replica has an address of its own. */
export const reached: WebhookServerOptions = {
  ...(WEBHOOK_URL === undefined
    ? { reachedAt: { service: { namespace: 'websites', name: 'websites-webhooks' } } }
    : { reachedAt: { url: WEBHOOK_URL }, port: Number(new URL(WEBHOOK_URL).port) }),
  secret: { namespace: 'websites' },
};
