import { beforeEach, describe, expect, it } from 'vitest';
import type { HttpSender, OutgoingRequest } from '../../../controllers/deployment/index.js';
import { parseHostRules } from '../../../controllers/deployment/index.js';
import { T0, aView, at } from '../../../controllers/deployment/state/rollout-view.fixture.js';
import type { EventNote } from '../../../client/events/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { ReplicaSet, Secret } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { InMemoryApi } from '../../../testing/in-memory/in-memory-api.js';
import { refusal } from '../../../testing/rollout-world.js';
import { waitFor } from '../../../testing/wait-for.js';
import { aChannelSecret } from './formats/notification.fixture.js';
import type { NotificationResult } from './notifications.js';
import { Notifications } from './notifications.js';

const KEY = '0 default/web';
const slack = (host: string) => ({ service: 'slack', url: `https://${host}.test/s3cret` });
const complete = { reason: 'NewReplicaSetAvailable' };
const entries = JSON.stringify([{ revision: '2', at: at(0), trigger: 'change' }]);
const begun = {
  ...{ reason: 'ReplicaSetUpdated', updated: 1 },
  ofReplicaSet: { 'rollkeeper.dev/revisions': entries },
};

class Services implements HttpSender {
  readonly got: string[] = [];
  /** A host that never answers. */
  hung: string | undefined;
  status: (host: string) => number = () => 200;

  async send({ body = '', url }: OutgoingRequest, signal: AbortSignal) {
    const { hostname } = new URL(url);
    this.got.push(`${hostname}: ${(JSON.parse(body) as { text: string }).text}`);
    if (hostname === this.hung)
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    return { status: this.status(hostname), body: '' };
  }
}

describe('notifications of rollouts', () => {
  let clock: FakeClock;
  let api: InMemoryApi;
  let services: Services;
  let results: NotificationResult[];
  let events: EventNote[];
  let shape: Parameters<typeof aView>[0];
  let leads: boolean;
  let refuses: boolean;
  let channels: readonly string[];

  beforeEach(() => {
    clock = new FakeClock(T0);
    refuses = false;
    api = new InMemoryApi(() => {
      if (refuses) throw refusal(500);
    });
    services = new Services();
    [results, events, shape, leads, channels] = [[], [], complete, true, ['chat']];
    api.seed(ReplicaSet, aView(complete).replicaSets[0] as ReplicaSet);
    give('chat', slack('a'));
  });

  function give(name: string, data: Record<string, string>): void {
    const secret = aChannelSecret(data);
    api.seed(Secret, { ...secret, metadata: { ...secret.metadata, name } });
  }

  function notifications(): Notifications {
    return new Notifications({
      ...{ sender: services, client: api, clock, logger: silentLogger },
      hosts: parseHostRules('*.test', 'notification-hosts'),
      mail: () => Promise.reject(new Error('no mail is sent here')),
      keys: () => [KEY],
      channelsOf: () => channels,
      viewOf: () => ({ ...aView(shape), replicaSets: aView(shape).replicaSets, nowMs: clock.now() }),
      isLeader: () => leads,
      record: (_about, note) => events.push(note),
      onResult: (result) => results.push(result),
    });
  }

  async function running(one: Notifications, work: () => Promise<unknown>): Promise<void> {
    const stopper = new AbortController();
    const ended = one.run(stopper.signal);
    await work();
    stopper.abort();
    await ended;
  }

  const told = (): unknown => {
    const text = api.all<ReplicaSet>(ReplicaSet)[0]?.metadata.annotations?.['rollkeeper.dev/told'];
    return text === undefined ? undefined : (JSON.parse(text) as { sinks: unknown }).sinks;
  };
  const isTold = () => waitFor(() => told() !== undefined, { what: 'the record' });

  it('are sent once, also by the next leader, and whatever changes meanwhile', async () => {
    const first = notifications();
    await running(first, async () => {
      await isTold();
      first.note(KEY);
      await clock.advance(1001);
    });
    await running(notifications(), () => clock.advance(3000));
    expect(services.got).toEqual(['a.test: default/web runs revision 2']);
    expect(told()).toEqual({ 'notify/chat': ['complete'] });
    expect(results).toEqual([{ service: 'slack', result: 'sent' }]);
  });

  it('are sent in their order, also where the rollout is over before the first one could be', async () => {
    shape = begun;
    const one = notifications();
    services.status = () => 503;
    await running(one, async () => {
      await waitFor(() => results.length === 1, { what: 'the first try' });
      shape = complete;
      one.note(KEY);
      services.status = () => 200;
      await clock.advance(2001);
      await waitFor(() => services.got.length === 3, { what: 'both' });
    });
    expect(services.got).toEqual([
      'a.test: default/web rolls out revision 2',
      'a.test: default/web rolls out revision 2',
      'a.test: default/web runs revision 2',
    ]);
  });

  it('wait for no other channel: one that does not answer costs its own slot alone', async () => {
    channels = ['slow', 'chat'];
    give('slow', slack('slow'));
    services.hung = 'slow.test';
    await running(notifications(), isTold);
    expect(told()).toEqual({ 'notify/chat': ['complete'] });
    expect(services.got).toContain('slow.test: default/web runs revision 2');
  });

  it('are tried again, later each time, and an Event says so once, without the address', async () => {
    services.status = () => 404;
    await running(notifications(), async () => {
      await waitFor(() => results.length === 1, { what: 'the first try' });
      await clock.advance(1999);
      expect(services.got).toHaveLength(1);
      await clock.advance(2);
      await waitFor(() => results.length === 2, { what: 'the second try' });
      services.status = () => 200;
      await clock.advance(4001);
      await isTold();
    });
    expect(services.got).toHaveLength(3);
    expect(events).toEqual([
      {
        ...{ type: 'Warning', reason: 'NotificationFailed' },
        message: 'Channel chat has not been notified (complete), which is retried: the service answered 404',
      },
    ]);
    expect(JSON.stringify(events)).not.toContain('s3cret');
  });

  it('are recorded, and not sent again, if the API refused the record', async () => {
    refuses = true;
    await running(notifications(), async () => {
      await waitFor(() => results.length === 2, { what: 'the first try' });
      refuses = false;
      await clock.advance(2001);
      await isTold();
    });
    expect(services.got).toHaveLength(1);
    expect(results.map(({ result }) => result)).toEqual(['sent', 'failed']);
  });

  it('are given up after an hour', async () => {
    services.status = () => 500;
    await running(notifications(), async () => {
      await waitFor(() => results.length === 1, { what: 'the first try' });
      const isOver = async () => {
        await clock.advance(60_000);
        return results.some(({ result }) => result === 'dropped');
      };
      await waitFor(isOver, { what: 'the end', intervalMs: 0 });
    });
    expect(told()).toBeUndefined();
  });

  it('go to events that the channel asks for alone', async () => {
    give('chat', { ...slack('a'), events: 'failed' });
    channels = ['chat', 'other'];
    give('other', slack('b'));
    await running(notifications(), isTold);
    expect(services.got).toEqual(['b.test: default/web runs revision 2']);
  });

  it('report a channel that does not exist', async () => {
    channels = ['nowhere'];
    await running(notifications(), () => waitFor(() => events.length > 0, { what: 'the Event' }));
    expect(events[0]?.message).toContain('there is no Secret nowhere');
    expect(results).toEqual([{ result: 'failed' }]);
  });

  it('are those of the leader alone, which ask nothing for a Deployment without channels', async () => {
    leads = false;
    const one = notifications();
    await running(one, async () => {
      one.note(KEY);
      await clock.advance(3000);
      expect(services.got).toEqual([]);
      leads = true;
      channels = [];
      await clock.advance(1001);
      one.note(KEY);
      await clock.advance(3000);
    });
    expect(services.got).toEqual([]);
  });
});
