import { beforeEach, describe, expect, it } from 'vitest';
import type { HttpSender, OutgoingRequest } from '../../../controllers/deployment/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { Deployment } from '../../../machinery/kubernetes/index.js';
import { ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { InMemoryApi } from '../../../testing/in-memory/in-memory-api.js';
import { refusal } from '../../../testing/rollout-world.js';
import { waitFor } from '../../../testing/wait-for.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { parseSinks } from './event-sink.js';
import type { SendResult } from './rollout-events.js';
import { RolloutEvents } from './rollout-events.js';

const REVISION = 'deployment.kubernetes.io/revision';
const KEY = '0 default/web';

class Sinks implements HttpSender {
  readonly got: OutgoingRequest[] = [];
  status: (url: string) => number = () => 202;

  async send(request: OutgoingRequest): Promise<{ status: number; body: string }> {
    this.got.push(request);
    return { status: this.status(request.url), body: '' };
  }

  get ids(): string[] {
    return this.got.map(({ body = '' }) => (JSON.parse(body) as { id: string }).id);
  }
}

describe('CloudEvents about rollouts', () => {
  let clock: FakeClock;
  let api: InMemoryApi;
  let sinks: Sinks;
  let results: SendResult[];
  let refuses: boolean;

  beforeEach(() => {
    clock = new FakeClock();
    refuses = false;
    api = new InMemoryApi(() => {
      if (refuses) throw refusal(500);
    });
    sinks = new Sinks();
    results = [];
    api.seed(ReplicaSet, replicaSet);
  });

  const replicaSet: ReplicaSet = {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
    metadata: { name: 'web-1', namespace: 'default', uid: 'uid-1', annotations: { [REVISION]: '2' } },
    spec: { replicas: 3, selector: {}, template: aDeployment().spec.template },
  };

  function deployment(reason = 'NewReplicaSetAvailable', message = 'done'): Deployment {
    const plain = aDeployment({ replicas: 3, annotations: { [REVISION]: '2' } });
    const at = new Date(clock.now()).toISOString();
    const progressing = { type: 'Progressing', status: 'True', reason, message, lastUpdateTime: at };
    return {
      ...plain,
      metadata: { ...plain.metadata, uid: 'uid', generation: 1 },
      status: {
        ...{ observedGeneration: 1, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
        conditions: [progressing],
      },
    };
  }

  function eventsFor(
    now: () => Deployment,
    list = 'http://sink.test/a',
    isLeader = () => true,
    keys: readonly string[] = [KEY],
  ): RolloutEvents {
    return new RolloutEvents({
      ...{ sinks: parseSinks(list, 'cloudevents-sink'), sender: sinks, client: api, clock },
      signer: { headersOf: async (id) => ({ 'webhook-id': id }) },
      logger: silentLogger,
      keys: () => keys,
      viewOf: (key) =>
        key === KEY
          ? {
              deployment: now(),
              replicaSets: api.all<ReplicaSet>(ReplicaSet),
              pods: [],
              nowMs: clock.now(),
            }
          : undefined,
      isLeader,
      onResult: (result) => results.push(result),
    });
  }

  async function running(events: RolloutEvents, work: () => Promise<unknown>): Promise<void> {
    const stopper = new AbortController();
    const ended = events.run(stopper.signal);
    await work();
    stopper.abort();
    await ended;
  }

  const told = (): string | undefined =>
    api.all(ReplicaSet)[0]?.metadata.annotations?.['rollkeeper.dev/told'];

  it('are sent once, also by the next leader, with an id that is always the same', async () => {
    const complete = deployment();
    await running(
      eventsFor(() => complete),
      () => waitFor(() => told() !== undefined, { what: 'the record' }),
    );
    expect(sinks.got[0]).toMatchObject({
      method: 'POST',
      headers: {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'webhook-id': 'uid.2.complete',
      },
    });
    expect(JSON.parse(sinks.got[0]?.body ?? '')).toMatchObject({
      ...{ specversion: '1.0', id: 'uid.2.complete', type: 'dev.rollkeeper.rollout.complete' },
      ...{ source: '/apis/apps/v1/namespaces/default/deployments/web', subject: 'default/web' },
      data: { outcome: 'complete', revision: '2', replicaSet: 'web-1' },
    });
    const next = eventsFor(() => complete);
    await running(next, async () => {
      next.note(KEY);
      await clock.advance(5000);
    });
    expect(sinks.ids).toEqual(['uid.2.complete']);
  });

  it('are sent again, later each time, to the sinks that did not take them alone', async () => {
    const complete = deployment();
    sinks.status = (url) => (url.endsWith('/b') ? 503 : 200);
    const events = eventsFor(() => complete, 'http://sink.test/a, http://sink.test/b');
    await running(events, async () => {
      await waitFor(() => sinks.got.length === 2, { what: 'the first try' });
      await waitFor(() => told() !== undefined, { what: 'the record' });
      events.note(KEY);
      await clock.advance(1999);
      expect(sinks.got, 'a change brings it back no sooner').toHaveLength(2);
      await clock.advance(2);
      await waitFor(() => sinks.got.length === 3, { what: 'the second try' });
      sinks.status = () => 200;
      await clock.advance(4001);
      await waitFor(() => sinks.got.length === 4, { what: 'the third try' });
    });
    expect(sinks.got.map(({ url }) => url.at(-1))).toEqual(['a', 'b', 'b', 'b']);
    expect(results).toEqual(['sent', 'failed', 'failed', 'sent']);
  });

  it('are not lost among thousands of Deployments that a new leader looks at', async () => {
    const complete = deployment();
    const others = Array.from({ length: 3000 }, (_, index) => `0 default/other-${index}`);
    await running(
      eventsFor(
        () => complete,
        'http://sink.test/a',
        () => true,
        [...others, KEY],
      ),
      () => waitFor(() => told() !== undefined, { what: 'the record' }),
    );
    expect(results).toEqual(['sent']);
  });

  it('are sent again if they could not be recorded, with the same id', async () => {
    const complete = deployment();
    refuses = true;
    await running(
      eventsFor(() => complete),
      async () => {
        await waitFor(() => sinks.got.length === 1, { what: 'the first try' });
        refuses = false;
        await clock.advance(2001);
        await waitFor(() => told() !== undefined, { what: 'the record' });
      },
    );
    expect(sinks.ids).toEqual(['uid.2.complete', 'uid.2.complete']);
  });

  it('are of each wait for an approval, and of nothing that still goes on, or was over long ago', async () => {
    let current = deployment('WaitingForApproval', 'Step 2 of 6 (approve): waits for an approval');
    const events = eventsFor(() => current);
    await running(events, async () => {
      await waitFor(() => sinks.got.length === 1, { what: 'the first event' });
      current = deployment('ReplicaSetUpdated');
      current.status!.updatedReplicas = 1;
      events.note(KEY);
      await clock.advance(1001);
      current = deployment('WaitingForApproval', 'Step 4 of 6 (approve): waits for an approval');
      events.note(KEY);
      await waitFor(() => sinks.got.length === 2, { what: 'the second event' });
    });
    expect(sinks.ids).toEqual(['uid.2.waiting-for-approval.2', 'uid.2.waiting-for-approval.4']);
    const old = deployment('NewReplicaSetAvailable');
    await clock.advance(3_600_001);
    await running(
      eventsFor(() => old),
      () => clock.advance(2000),
    );
    expect(sinks.got).toHaveLength(2);
  });

  it('are those of the leader alone', async () => {
    const complete = deployment();
    let leads = false;
    const events = eventsFor(
      () => complete,
      'http://sink.test/a',
      () => leads,
    );
    await running(events, async () => {
      events.note(KEY);
      await clock.advance(3000);
      expect(sinks.got).toEqual([]);
      leads = true;
      await clock.advance(1001);
      await waitFor(() => sinks.got.length === 1, { what: 'the event' });
    });
  });

  it('go to URLs without credentials', () => {
    for (const url of ['ftp://a', 'nowhere', 'http://a:b@c'])
      expect(() => parseSinks(url, 'cloudevents-sink')).toThrow();
    expect(parseSinks('', 'cloudevents-sink')).toEqual([]);
    expect(parseSinks('http://a, http://a', 'cloudevents-sink')).toHaveLength(1);
  });
});
