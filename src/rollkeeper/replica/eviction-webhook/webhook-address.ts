import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { WebhookAddress } from '@rollkeeper/webhooks';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SERVICE = new RegExp(`^(${LABEL})/(${LABEL})(?::(\\d{1,5}))?$`);

/**
 * Reads the address at which the API server reaches a webhook: `NAMESPACE/SERVICE`, `NAMESPACE/SERVICE:PORT` or an
 * https URL.
 * @throws InvalidOptionError naming `option`
 */
export function parseWebhookAddress(text: string, option: string): WebhookAddress {
  const [, namespace, , name, , port = '443'] = SERVICE.exec(text) ?? [];
  if (namespace !== undefined && name !== undefined)
    return { service: { namespace, name, port: Number(port) } };
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return { url: text };
  throw new InvalidOptionError(option, `"${text}" is neither NAMESPACE/SERVICE nor an https URL`);
}
