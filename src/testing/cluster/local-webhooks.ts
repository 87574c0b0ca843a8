import type { ApiClient } from '@rollkeeper/client/api-client';
import { unlessGone } from '@rollkeeper/client/api-client';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@rollkeeper/runtime';

const KINDS: readonly ResourceType[] = [MutatingWebhookConfiguration, ValidatingWebhookConfiguration];

interface Configuration extends KubernetesObject {
  readonly webhooks?: readonly { readonly clientConfig: { readonly url?: string } }[];
}

/**
 * The configurations that operators of this machine make themselves while a test runs. When the operators have ended,
 * they would block what they are asked about.
 */
export class LocalWebhooks {
  private readonly before = new Set<string>();

  /** @param host of this machine, as the API server reaches it */
  constructor(
    private readonly client: ApiClient,
    private readonly host: string,
  ) {}

  /** Notes the configurations that there are now, which are left alone. */
  async begin(): Promise<void> {
    for (const { uid } of await this.all()) this.before.add(uid);
  }

  /** Deletes those that have come since, and lead to this machine alone. */
  async remove(except?: string): Promise<void> {
    for (const { kind, name, uid, urls } of await this.all()) {
      const isLocal = urls.length > 0 && urls.every((url) => hostOf(url) === this.host);
      if (isLocal && !this.before.has(uid) && name !== except)
        await unlessGone(this.client.delete(kind, { name }, { preconditions: { uid } }));
    }
  }

  private async all() {
    const lists = KINDS.map(async (kind) => {
      const { items } = await this.client.list<Configuration>(kind);
      return items.map(({ metadata: { name, uid = '' }, webhooks = [] }) => ({
        ...{ kind, name, uid },
        urls: webhooks.map(({ clientConfig }) => clientConfig.url),
      }));
    });
    return (await Promise.all(lists)).flat();
  }
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.hostname;
}
