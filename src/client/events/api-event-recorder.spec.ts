import { describe, expect, it } from 'vitest';
import { IllegalStateError, InvalidOptionError } from '../../machinery/errors/index.js';
import { Event, Node } from '../../machinery/kubernetes/index.js';
import { refusal } from '../../testing/fake-cluster.js';
import type { EventObject } from './event-object.js';
import { aRecorder, about, note } from './event-recorder.fixture.js';

describe('ApiEventRecorder', () => {
  it('writes who, what and about which object', async () => {
    const { recorder, start, stop, clock, events } = aRecorder();
    const running = start();
    recorder.record(about, note());
    await clock.advance(0);
    expect(events()).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
        involvedObject: {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          namespace: 'default',
          name: 'web',
          uid: 'uid-1',
          resourceVersion: '7',
        },
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: 'Created pod: a',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'replicaset-controller' },
        reportingComponent: 'replicaset-controller',
        reportingInstance: '',
      },
    ]);
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('signs with the name of the controller that records, and counts each one’s events apart', async () => {
    const { recorder, start, stop, clock, events } = aRecorder();
    const running = start();
    recorder.as('deployment-controller').record(about, note());
    recorder.as('replicaset-controller').record(about, note());
    await clock.advance(0);
    expect(
      events().map(({ count, reportingComponent, source }) => [source.component, reportingComponent, count]),
    ).toEqual([
      ['deployment-controller', 'deployment-controller', 1],
      ['replicaset-controller', 'replicaset-controller', 1],
    ]);
    stop.abort();
    await running;
  });

  it('puts events about cluster-scoped objects into the default namespace', async () => {
    const { recorder, start, clock, events } = aRecorder();
    void start();
    recorder.record({ apiVersion: 'v1', kind: Node.kind, metadata: { name: 'node-1' } }, note());
    await clock.advance(0);
    expect(events()[0]?.metadata.namespace).toBe('default');
  });

  it('raises the count and the last time of an event that happens again', async () => {
    const { recorder, start, clock, cluster, events } = aRecorder();
    void start();
    for (let occurrence = 0; occurrence < 3; occurrence++) {
      recorder.record(about, note());
      await clock.advance(1000);
    }
    expect(events()).toMatchObject([
      { count: 3, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:02Z' },
    ]);
    expect(cluster.requests.map(({ verb }) => verb)).toEqual(['create', 'patch', 'patch']);
  });

  it('writes once what happens several times before it is written', async () => {
    const { recorder, start, clock, cluster, events } = aRecorder();
    for (let occurrence = 0; occurrence < 30; occurrence++) recorder.record(about, note());
    void start();
    await clock.advance(0);
    expect(events()).toMatchObject([{ count: 30 }]);
    expect(cluster.requests).toHaveLength(1);
  });

  it('combines the tenth and further similar events within ten minutes', async () => {
    const { recorder, start, clock, events } = aRecorder();
    void start();
    for (let pod = 1; pod <= 12; pod++) {
      recorder.record(about, note(`Created pod: ${pod}`));
      await clock.advance(1000);
    }
    const messages = events().map(({ message, count }) => `${count} ${message}`);
    expect(messages).toHaveLength(10);
    expect(messages.at(-1)).toBe('3 (combined from similar events): Created pod: 12');
    await clock.advance(600_000);
    recorder.record(about, note('Created pod: 13'));
    await clock.advance(0);
    expect(events().at(-1)).toMatchObject({ count: 1, message: 'Created pod: 13' });
  });

  it('lets one object cause 25 writes, then one in five minutes, and others as many', async () => {
    const { recorder, start, clock, events, cluster } = aRecorder();
    void start();
    for (let index = 0; index < 40; index++) recorder.record(about, note('m', `Reason${index}`));
    await clock.advance(0);
    expect(events()).toHaveLength(25);
    await clock.advance(300_000);
    recorder.record(about, note('m', 'Later'));
    recorder.record(about, note('m', 'TooSoon'));
    recorder.record({ ...about, metadata: { ...about.metadata, uid: 'uid-2' } }, note('m', 'Other'));
    await clock.advance(0);
    expect(
      events()
        .map(({ reason }) => reason)
        .slice(25),
    ).toEqual(['Later', 'Other']);
    expect(cluster.count('create')).toBe(27);
  });

  it('creates the event again when it expired on the server', async () => {
    const { recorder, start, clock, cluster, events } = aRecorder();
    void start();
    recorder.record(about, note());
    await clock.advance(1000);
    const [first] = events();
    cluster.vanish(Event, `default/${first!.metadata.name}`);
    recorder.record(about, note());
    await clock.advance(0);
    expect(events()).toMatchObject([{ count: 2 }]);
    expect(cluster.requests.map(({ verb }) => verb)).toEqual(['create', 'patch', 'create']);
  });

  it('tries again, with a growing wait, when the API does not answer', async () => {
    const { recorder, start, clock, cluster, events } = aRecorder();
    let failures = 4;
    cluster.intercept = () => (failures-- > 0 ? new Error('connection refused') : undefined);
    void start();
    recorder.record(about, note());
    await clock.advance(200);
    expect(cluster.requests.length).toBeLessThan(4);
    await clock.advance(10_000);
    expect(events()).toHaveLength(1);
    expect(cluster.requests).toHaveLength(5);
  });

  it('gives up an event that the API refuses, and writes the next', async () => {
    const { recorder, start, clock, cluster, events, warnings } = aRecorder();
    let refusals = 1;
    cluster.intercept = () => (refusals-- > 0 ? refusal(403, 'Forbidden', 'no') : undefined);
    void start();
    recorder.record(about, note('first'));
    recorder.record(about, note('second'));
    await clock.advance(0);
    expect(events().map(({ message }) => message)).toEqual(['second']);
    expect(warnings).toEqual(['an event could not be written']);
  });

  it('writes about several objects at once, but no more than it may, and about one object one after the other', async () => {
    const { recorder, start, stop, clock, cluster } = aRecorder({ maxConcurrentWrites: 3 });
    const underWay: string[] = [];
    let most = 0;
    const began: string[] = [];
    cluster.create = async (_type, object) => {
      const { involvedObject, message } = object as unknown as EventObject;
      const uid = involvedObject.uid ?? '';
      expect(underWay).not.toContain(uid);
      underWay.push(uid);
      began.push(`${uid} ${message}`);
      most = Math.max(most, underWay.length);
      await clock.sleep(10);
      underWay.splice(underWay.indexOf(uid), 1);
      return object;
    };
    for (const message of ['first', 'second', 'third'])
      for (const uid of ['a', 'b', 'c', 'd', 'e'])
        recorder.record({ ...about, metadata: { ...about.metadata, uid } }, note(message));
    const running = start();
    await clock.advance(50);
    stop.abort();
    await running;
    expect(most).toBe(3);
    expect(began).toHaveLength(15);
    for (const uid of ['a', 'b', 'c', 'd', 'e'])
      expect(began.filter((line) => line.startsWith(uid))).toEqual([
        `${uid} first`,
        `${uid} second`,
        `${uid} third`,
      ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets an event that has to be tried again hold up its own object and no other', async () => {
    const { recorder, start, clock, cluster, events } = aRecorder({ maxConcurrentWrites: 2 });
    let isBad = true;
    cluster.intercept = ({ key }) =>
      isBad && key.startsWith('default/bad.') ? new Error('connection refused') : undefined;
    void start();
    const bad = { ...about, metadata: { ...about.metadata, name: 'bad' } };
    recorder.record(bad, note('bad'));
    recorder.record(bad, note('after'));
    for (const uid of ['b', 'c', 'd'])
      recorder.record({ ...about, metadata: { ...about.metadata, uid } }, note('well'));
    await clock.advance(0);
    expect(events().map(({ message }) => message)).toEqual(['well', 'well', 'well']);
    isBad = false;
    await clock.advance(5000);
    expect(
      events()
        .map(({ message }) => message)
        .slice(3),
    ).toEqual(['bad', 'after']);
  });

  it('drops the oldest, counted and with a warning, when too many wait', async () => {
    const { recorder, start, clock, events, warnings } = aRecorder({ maxQueued: 2 });
    for (const message of ['a', 'b', 'c', 'd']) recorder.record(about, note(message));
    expect(recorder.droppedEvents).toBe(2);
    expect(warnings).toHaveLength(1);
    void start();
    await clock.advance(0);
    expect(events().map(({ message }) => message)).toEqual(['c', 'd']);
  });

  it('writes what waits when it is stopped', async () => {
    const { recorder, start, stop, clock, events } = aRecorder();
    for (const message of ['a', 'b', 'c']) recorder.record(about, note(message));
    stop.abort();
    await start();
    expect(events()).toHaveLength(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not let a stop wait longer than the bound for an API that hangs', async () => {
    const { recorder, start, stop, clock, cluster } = aRecorder({ flushTimeoutMs: 500 });
    cluster.create = (_type, _object, options) =>
      new Promise((_resolve, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
      });
    recorder.record(about, note());
    recorder.record(about, note('another'));
    const running = start();
    await clock.advance(0);
    stop.abort();
    let stopped = false;
    void running.then(() => (stopped = true));
    await clock.advance(499);
    expect(stopped).toBe(false);
    await clock.advance(1);
    expect(stopped).toBe(true);
  });

  it('does not touch the object, and runs once', async () => {
    const { recorder, start, stop } = aRecorder();
    const before = structuredClone(about);
    recorder.record(Object.freeze(about), note());
    expect(about).toEqual(before);
    stop.abort();
    await start();
    await expect(start()).rejects.toThrow(IllegalStateError);
  });

  it('names an option that is wrong', () => {
    expect(() => aRecorder({ maxQueued: 0 })).toThrow(InvalidOptionError);
    expect(() => aRecorder({ retryBaseMs: 100, retryMaxMs: 10 })).toThrow('eventRecorder.retryMaxMs');
  });
});
