import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { keepFollowing } from '@rollkeeper/machinery/clock';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import { Lease } from '@rollkeeper/machinery/kubernetes';

const TIMEOUT_SECONDS = 300;
/** Holders write several times per lease duration; longer silence means a dead link. */
const IDLE_TIMEOUT_MS = 30_000;
/** Waiters for the lease also poll, so a pause delays nothing for long. */
const PAUSES = { firstMs: 250, longestMs: 2000, healthyAfterMs: 5000 };

/** While there are subscribers, watches one Lease and notifies when it is released or otherwise newsworthy. */
export class LeaseReleaseWatch {
  private readonly wakes = new Set<() => void>();
  private stop: AbortController | undefined;

  constructor(
    private readonly client: Pick<ApiClient, 'list' | 'watch'>,
    private readonly ref: { readonly namespace: string; readonly name: string },
    private readonly clock: Clock,
    /** Whether the change needs a reaction. */
    private readonly isNews: (lease: Lease) => boolean = () => false,
  ) {}

  onReleased(wake: () => void): () => void {
    this.wakes.add(wake);
    this.begin();
    return () => {
      this.wakes.delete(wake);
      if (this.wakes.size === 0) this.end();
    };
  }

  close(): void {
    this.wakes.clear();
    this.end();
  }

  private begin(): void {
    if (this.stop) return;
    this.stop = new AbortController();
    const { signal } = this.stop;
    void keepFollowing(() => this.follow(signal), { clock: this.clock, ...PAUSES }, signal);
  }

  private end(): void {
    this.stop?.abort(new ShutdownError('the wait for the lease was cancelled'));
    this.stop = undefined;
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const { name, namespace } = this.ref;
    const only = { namespace, fieldSelector: `metadata.name=${name}` };
    const { items, resourceVersion } = await this.client.list<Lease>(Lease, { ...only, signal });
    const present = items.find(({ metadata }) => metadata.name === name);
    if (present && this.concerns(present)) this.wake();
    const watch = {
      ...only,
      resourceVersion,
      timeoutSeconds: TIMEOUT_SECONDS,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
    };
    for await (const event of this.client.watch<Lease>(Lease, { ...watch, signal })) {
      if (event.type === 'BOOKMARK' || event.object.metadata.name !== name) continue;
      if (event.type === 'DELETED' || this.concerns(event.object)) this.wake();
    }
  }

  private concerns(lease: Lease): boolean {
    return !lease.spec?.holderIdentity || this.isNews(lease);
  }

  private wake(): void {
    for (const wake of [...this.wakes]) wake();
  }
}
