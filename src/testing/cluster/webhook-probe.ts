import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import { ConfigMap } from '@rollkeeper/runtime';
import type { WebhookDefinition } from '@rollkeeper/webhooks';
import { defineWebhook } from '@rollkeeper/webhooks';

const LABEL = 'rollkeeper.dev/webhook-probe';
const FILLED_IN = 'both configurations are in force';
const NOT_FILLED_IN = 'one configuration is in force';
/** Pause between two looks. */
const PAUSE_MS = 20;
const TIMEOUT_MS = 10_000;

/**
 * One more webhook, of ConfigMaps with a label of this test alone. An API server notices new configurations after a
 * while; when it calls this one, it calls the others of the same configurations as well.
 */
export function probeWebhook(id: string): WebhookDefinition {
  return defineWebhook(ConfigMap, {
    name: 'probe',
    operations: ['CREATE'],
    objectSelector: { matchLabels: { [LABEL]: id } },
    default: (map) => void (map.data = { filled: 'in' }),
    validate: ({ data }) => (data?.['filled'] ? FILLED_IN : NOT_FILLED_IN),
  });
}

/**
 * Resolves when the API server calls the webhooks. Stores nothing.
 * @throws StartupError if it does not, with what it says
 */
export async function webhooksAreCalled(
  client: ApiClient,
  {
    clock,
    id,
    signal,
    url,
  }: { readonly clock: Clock; readonly id: string; readonly signal: AbortSignal; readonly url: string },
): Promise<void> {
  const metadata = { namespace: 'default', name: `webhook-probe-${id}`, labels: { [LABEL]: id } };
  const probe: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const deadlineMs = clock.monotonicNow() + TIMEOUT_MS;
  for (;;) {
    const said = await client.create(ConfigMap, probe, { dryRun: true, signal }).then(
      () => 'it was not asked',
      (error: unknown) => errorMessage(error),
    );
    signal.throwIfAborted();
    if (said.includes(FILLED_IN)) return;
    if (clock.monotonicNow() >= deadlineMs)
      throw new StartupError(
        `the API server does not call the webhooks at ${url} (webhookHost is the address under which it reaches this process): ${said}`,
      );
    await clock.sleep(PAUSE_MS, signal);
  }
}
