import { inject } from 'vitest';
import type { HttpApiClient } from '../../../src/client/api-client/index.js';
import { Namespace } from '../../../src/machinery/kubernetes/index.js';
import { failingChecks } from '../../../src/rollkeeper/replica/supervisor/replica-probe.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import type { KeeperVerb, SharedSet, SharedSetName, TakenSet } from './sets.js';
import { SHARED_SETS } from './sets.js';
import { RunningUp } from './up.js';

/** A set of processes that several test files use, together or one after the other. */
export class SharedUp extends RunningUp {
  private constructor(
    private readonly name: SharedSetName,
    readonly pid: number,
    dataDir: string,
  ) {
    super(dataDir);
  }

  /** The first to take it starts it; one that is exclusive is waited for. Who takes it gives it back. */
  static async take(name: SharedSetName): Promise<SharedUp> {
    const { dataDir, pid } = await askKeeper<TakenSet>('take', name);
    return new SharedUp(name, pid, dataDir);
  }

  /** Everything that it has printed until now. */
  printed(): Promise<string> {
    return askKeeper('printed', this.name);
  }

  /** A namespace of the test's own. */
  async createNamespace(client: HttpApiClient, name: string): Promise<string> {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return name;
  }

  /** The next file that takes an exclusive set finds all its processes, and a leader. */
  async give(): Promise<void> {
    const { isExclusive, replicas }: SharedSet = SHARED_SETS[this.name];
    if (isExclusive)
      await waitFor(() => this.isWhole(replicas), { intervalMs: 50, what: 'every process to be back' });
    await askKeeper('give', this.name);
  }

  /** Whether everything runs, every replica is ready, and one leads. */
  async isWhole(count: number): Promise<boolean> {
    const { apiServer, nodes, redis, replicas } = await this.status();
    if (!apiServer || !nodes || !redis || replicas.length !== count) return false;
    const failing = await Promise.all(replicas.map(failingChecks));
    return failing.every((checks) => checks?.length === 0) && replicas.some(({ leader }) => leader);
  }
}

async function askKeeper<T>(verb: KeeperVerb, name: SharedSetName): Promise<T> {
  const response = await fetch(`${inject('setKeeperUrl')}/${verb}/${name}`, { method: 'POST' });
  if (!response.ok) throw new Error(`the set ${name}: ${await response.text()}`);
  return (await response.json()) as T;
}
