import type { ApiClient } from '../../src/client/api-client/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import type { HistoryEvent } from './history.js';
import { LOAD_NAMESPACE, namespaceAt } from './namespaces.js';

const PROBES = 16;
const RETRY_MS = 20;
export const GIVE_UP_MS = 120_000;

/**
 * Measures from outside how long a change waits: a Deployment is changed, and the time runs until the change has
 * been observed by a controller (`status.observedGeneration`).
 */
export class Probes {
  private readonly observed = new Map<string, number>();
  private next = 0;
  private readonly busy = new Set<string>();

  constructor(
    private readonly client: ApiClient,
    private readonly prefix = 'probe',
    private readonly namespaces: readonly string[] = [LOAD_NAMESPACE],
  ) {}

  async start(): Promise<void> {
    for (let index = 0; index < PROBES; index++)
      await this.client.create(Deployment, aDeployment(this.refOf(`${this.prefix}-${index}`)));
  }

  /** Give it every change of the history. */
  note({ kind, object }: HistoryEvent): void {
    if (kind === 'Deployment')
      this.observed.set(object.metadata.name, (object as Deployment).status?.observedGeneration ?? 0);
  }

  /** From now until a change that is sent at once was observed, in milliseconds; the time to get it sent included. */
  async measure(what: string): Promise<number> {
    const startedMs = performance.now();
    const name = this.take();
    try {
      const generation = await this.change(name, `${what} ${startedMs}`);
      await waitFor(() => (this.observed.get(name) ?? 0) >= generation, {
        timeoutMs: GIVE_UP_MS,
        intervalMs: 5,
        what: `a change of ${name} to be observed`,
      });
      return performance.now() - startedMs;
    } finally {
      this.busy.delete(name);
    }
  }

  private refOf(name: string): { readonly namespace: string; readonly name: string } {
    const index = Number(name.slice(this.prefix.length + 1));
    return { namespace: namespaceAt(this.namespaces, index), name };
  }

  private take(): string {
    do {
      this.next = (this.next + 1) % PROBES;
    } while (this.busy.has(`${this.prefix}-${this.next}`) && this.busy.size < PROBES);
    const name = `${this.prefix}-${this.next}`;
    this.busy.add(name);
    return name;
  }

  private async change(name: string, cause: string): Promise<number> {
    const body = { spec: { template: { metadata: { annotations: { cause } } } } };
    for (;;) {
      try {
        const changed = await this.client.patch<Deployment>(Deployment, this.refOf(name), {
          type: 'merge',
          body,
        });
        return changed.metadata.generation ?? 0;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
