import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Pod, isPodFinished } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

/** The most pods that existed at a time, counted from a watch. */
class PodCount {
  most = 0;
  private seen = 0;
  private readonly pods = new Set<string>();
  private readonly stop = new AbortController();
  private watching: Promise<void> | undefined;

  constructor(private readonly lab: PolicyUp) {}

  async start(): Promise<void> {
    const { items, resourceVersion } = await this.lab.client.list<Pod>(Pod, { namespace: 'default' });
    for (const pod of items) this.pods.add(pod.metadata.name);
    this.most = this.pods.size;
    this.watching = this.follow(resourceVersion);
  }

  async end(): Promise<void> {
    expect(this.seen, 'the watch has shown pods that come and go').toBeGreaterThan(10);
    this.stop.abort();
    await this.watching?.catch((error: unknown) => {
      if (!this.stop.signal.aborted) throw error;
    });
  }

  private async follow(resourceVersion = ''): Promise<void> {
    const { signal } = this.stop;
    const ends = { timeoutSeconds: 600, idleTimeoutMs: 600_000 };
    const options = { namespace: 'default', resourceVersion, ...ends, signal };
    const events = this.lab.client.watch<Pod>(Pod, options);
    for await (const event of events) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED' && event.type !== 'DELETED') continue;
      this.seen++;
      const { name } = event.object.metadata;
      if (event.type === 'DELETED' || isPodFinished(event.object)) this.pods.delete(name);
      else this.pods.add(name);
      this.most = Math.max(this.most, this.pods.size);
    }
  }
}

describe.skipIf(!anyKubectl())('pods that start when the old ones have ended, with kubectl', () => {
  let lab: PolicyUp;
  let count: PodCount;

  beforeAll(async () => {
    lab = await PolicyUp.withNodes('--termination-delay-ms', '1500');
    expect((await lab.applyExample('pod-replacement.yaml')).code).toBe(0);
    count = new PodCount(lab);
    await count.start();
  });

  afterAll(async () => {
    await count.end();
    await lab.stop();
  });

  const isRolledOut = (): Promise<unknown> =>
    lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');

  it('are never more than the ceiling in a rollout, and it says what it waits for', async () => {
    await lab.kubectl('set', 'image', 'deployment/web', 'web=nginx:1.26');
    await lab.says('WaitingForTermination New pods start when pods that are being deleted have ended');
    await isRolledOut();
    expect(await lab.sizes()).toEqual({ 'nginx:1.26': 3 });
    await lab.says('NewReplicaSetAvailable');
    expect(count.most).toBe(3);
  });

  it('are never more than that when pods are deleted by hand', async () => {
    await lab.kubectl('delete', 'pods', '--all', '--wait=false');
    await waitFor(
      async () => (await lab.pods()).filter(({ metadata }) => !metadata.deletionTimestamp).length === 3,
      { what: 'three new pods', timeoutMs: 60_000 },
    );
    expect(count.most).toBe(3);
  });

  it('are never more than that when the leader dies in the middle of a rollout', async () => {
    await lab.kubectl('set', 'image', 'deployment/web', 'web=nginx:1.27');
    await lab.says('WaitingForTermination');
    await lab.killLeader();
    await lab.sized({ 'nginx:1.27': 3 });
    await lab.says('NewReplicaSetAvailable');
    expect(count.most).toBe(3);
  });
});
