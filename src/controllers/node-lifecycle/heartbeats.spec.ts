import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import type { Lease, Node } from '../../machinery/kubernetes/index.js';
import type { Informer, ResourceEvent } from '../../client/informer/informer.js';
import { Heartbeats } from './heartbeats.js';

const GRACE_MS = 50_000;

/** Handlers that a test calls. */
function anInformer<T>() {
  const handlers: ((event: ResourceEvent<T>) => void)[] = [];
  const informer = {
    addEventHandler: (handler: (typeof handlers)[number]) => (handlers.push(handler), () => undefined),
  };
  const tell = (object: T): void =>
    handlers.forEach((each) => each({ type: 'added', object, initial: false } as never));
  return { informer: informer as never as Informer<never>, tell };
}

const lease = (renewTime: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'node-1', namespace: 'kube-node-lease' },
  spec: { renewTime },
});

function listening() {
  const clock = new FakeClock();
  const heartbeats = new Heartbeats('kube-node-lease', clock);
  const [nodes, leases] = [anInformer<Node>(), anInformer<Lease>()];
  heartbeats.follow(nodes.informer, leases.informer);
  leases.tell(lease('1'));
  return { clock, ask: () => heartbeats.ask('node-1', GRACE_MS), tell: leases.tell };
}

describe('a node', () => {
  it('is silent when its Lease was not renewed for the grace period, and not a moment before', async () => {
    const { ask, clock } = listening();
    expect(ask()).toEqual({ isSilent: false, againInMs: GRACE_MS });
    await clock.advance(GRACE_MS - 1);
    expect(ask().isSilent).toBe(false);
    await clock.advance(1);
    expect(ask().isSilent).toBe(true);
  });

  it('is heard again with a newer Lease, and not with the same once more', async () => {
    const { ask, clock, tell } = listening();
    ask();
    await clock.advance(GRACE_MS);
    tell(lease('1'));
    expect(ask().isSilent).toBe(true);
    tell(lease('2'));
    expect(ask()).toEqual({ isSilent: false, againInMs: GRACE_MS });
  });

  it('is not silent because we slept: who looks late hears first', async () => {
    const { ask, clock, tell } = listening();
    ask();
    await clock.advance(10 * GRACE_MS);
    const { againInMs, isSilent } = ask();
    expect([isSilent, againInMs]).toEqual([false, 5000]);
    tell(lease('2'));
    await clock.advance(againInMs);
    expect(ask().isSilent).toBe(false);
  });

  it('is found dead by the look after the late one', async () => {
    const { ask, clock } = listening();
    ask();
    await clock.advance(10 * GRACE_MS);
    await clock.advance(ask().againInMs);
    expect(ask().isSilent).toBe(true);
  });
});
