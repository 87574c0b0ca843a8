import { trace } from '@opentelemetry/api';
import type { ApiClient, Clock, Logger } from '@rollkeeper/runtime';
import {
  unlessGone,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  untyped,
} from '@rollkeeper/runtime';
import { ProcessCertificates } from './certificates.js';
import type { WebhookDefinition } from './define-webhook.js';
import type { Publication } from './publish-configurations.js';
import { convertBy, publishConfigurations } from './publish-configurations.js';
import { WebhookListener } from './webhook-listener.js';
import { assertDistinct } from './webhook-server.options.js';

/** The options of {@link serveWebhooks}. */
export interface ServeWebhooksOptions {
  readonly webhooks: readonly WebhookDefinition[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** The address under which the API server reaches this machine. @default '127.0.0.1' */
  readonly host?: string;
  /** The name of the configurations. @default 'webhooks' */
  readonly name?: string;
}

/** Webhooks of one process without a manager. */
export interface ServedWebhooks {
  /** Makes an API server call them. Once the definitions that are converted are there, again. */
  publish(client: ApiClient): Promise<void>;
  /** Ends that: deletes the configurations. */
  withdraw(client: ApiClient): Promise<void>;
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** Whether objects of this definition are converted. */
  converts(definition: string): boolean;
  /** Makes a definition be converted. */
  convert(client: ApiClient, definition: string): Promise<void>;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const EVERYWHERE = '0.0.0.0';

/** Serves webhooks on a port of this machine, with a certificate that lives as long as the process: for tests. */
export async function serveWebhooks({
  clock,
  host = LOOPBACK,
  logger,
  name = 'webhooks',
  webhooks,
}: ServeWebhooksOptions): Promise<ServedWebhooks> {
  assertDistinct(webhooks);
  const tracer = trace.getTracer('rollkeeper');
  const metrics = { begun: () => undefined, ended: () => undefined, certificateExpires: () => undefined };
  const listener = new WebhookListener(webhooks, { clock, logger, tracer, metrics });
  const { ca, served } = await new ProcessCertificates([host], clock).look();
  listener.show(served);
  const port = await listener.listen(0, host === LOOPBACK ? LOOPBACK : EVERYWHERE);
  const reachedAt = { url: `https://${host}:${port}` };
  const publication = (client: ApiClient, some = webhooks): Publication => ({
    ...{ client, logger, reachedAt },
    name,
    webhooks: some,
    how: 'apply',
  });
  const admitting = webhooks.map(({ convert: _, ...webhook }) => webhook);
  return {
    url: reachedAt.url,
    publish: (client) => publishConfigurations(publication(client, admitting), ca),
    withdraw: async (client) => {
      for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration])
        await unlessGone(client.delete(untyped(kind), { name }));
    },
    converts: (definition) =>
      webhooks.some(({ convert, kind }) => convert && definition === `${kind.resource}.${kind.group}`),
    convert: async (client, definition) => void (await convertBy(publication(client), definition, ca)),
    close: () => listener.close(),
  };
}
