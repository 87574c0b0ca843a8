import type { ApiClient, DiscoveredResource } from '../../api-client/index.js';
import type { Clock } from '../../clock/index.js';
import type { DeepReadonly, OwnerReference, ResourceType } from '../../kubernetes/index.js';
import { apiVersionOf } from '../../kubernetes/index.js';

/** Source: the garbage collector of kube-controller-manager looks at discovery again every 30 s. */
const REFRESH_AFTER_MS = 30_000;

/**
 * Finds the types of owners that we have no informer for. Discovery is asked again for an unknown kind, at most once
 * in 30 s; a group whose discovery fails is simply not known and takes nothing else with it.
 */
export class OwnerTypes {
  private resources: readonly DiscoveredResource[] = [];
  private askedAtMs: number | undefined;
  private asking: Promise<void> | undefined;

  constructor(private readonly clock: Clock) {}

  async resolve(
    reference: DeepReadonly<OwnerReference>,
    client: Pick<ApiClient, 'discover'>,
    signal: AbortSignal,
  ): Promise<ResourceType | undefined> {
    const known = this.find(reference);
    if (known) return known;
    const now = this.clock.monotonicNow();
    if (this.askedAtMs === undefined || now - this.askedAtMs >= REFRESH_AFTER_MS) {
      this.asking ??= this.ask(client, signal).finally(() => (this.asking = undefined));
      await this.asking;
    }
    return this.find(reference);
  }

  private async ask(client: Pick<ApiClient, 'discover'>, signal: AbortSignal): Promise<void> {
    this.resources = (await client.discover({ signal })).resources;
    this.askedAtMs = this.clock.monotonicNow();
  }

  private find(reference: DeepReadonly<OwnerReference>): ResourceType | undefined {
    return this.resources.find(
      (type) => type.kind === reference.kind && apiVersionOf(type) === reference.apiVersion,
    );
  }
}
