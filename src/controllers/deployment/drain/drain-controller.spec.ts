import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { NoAnswerError } from '../policies/checks/common/no-answer-error.js';
import type { IncomingAnswer, OutgoingRequest } from '../policies/checks/common/http-sender.js';
import { Pod } from '../../../machinery/kubernetes/index.js';
import { aPod } from '../../../testing/pod-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { runController } from '../../../testing/run-controller.js';
import { aReplicaSet } from '../../../testing/replicaset-harness.js';
import { drainPatch, parseKeepOld } from '../../shared/index.js';
import { createDrainController } from './drain-controller.js';
import { NamespaceSlots } from '../policies/common/namespace-slots.js';

const HTTP = 'until "http :8080/sessions == 0", at most 1h, at most 2';
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd-1', controller: true };
type Answer = IncomingAnswer | Error;

interface Shape {
  readonly name?: string;
  readonly version?: string;
  readonly rule?: string;
  readonly agoMs?: number;
  readonly edit?: (pod: Pod) => void;
}

function aLab(
  answer: Answer | ((url: string) => Answer) = { status: 200, body: '0' },
  slots?: NamespaceSlots,
) {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const sent: OutgoingRequest[] = [];
  const senderOf = () => ({
    send: (request: OutgoingRequest) => {
      sent.push(request);
      const given = typeof answer === 'function' ? answer(request.url) : answer;
      return given instanceof Error ? Promise.reject(given) : Promise.resolve(given);
    },
    close: () => Promise.resolve(),
  });
  const running = runController(createDrainController({ senderOf, ...(slots && { slots }) }), cluster, {
    clock,
  });
  return {
    ...{ clock, cluster, sent, running },
    names: () => cluster.all<Pod>(Pod).map(({ metadata }) => metadata.name),
    /** A pod that has left its ReplicaSet as the ReplicaSet controller lets it. */
    seed({ agoMs = 0, edit, name = 'web-1', rule = HTTP, version = 'web-a' }: Shape = {}) {
      const owner = aReplicaSet();
      owner.metadata = { ...owner.metadata, name: version, ownerReferences: [DEPLOYMENT] };
      const pod = aPod({ name, phase: 'Running', ownerUid: owner.metadata.uid });
      pod.status = { ...pod.status, phase: 'Running', podIP: '10.1.2.3', hostIP: '192.168.0.1' };
      const { metadata } = drainPatch(pod, owner, parseKeepOld(rule)!, clock.now() - agoMs);
      pod.metadata.labels = { 'rollkeeper.dev/draining': 'web' };
      pod.metadata.annotations = metadata.annotations;
      pod.metadata.ownerReferences = [DEPLOYMENT];
      edit?.(pod);
      cluster.seed(Pod, pod);
      running.add(`default/${name}`);
    },
  };
}

describe('a pod that drains', () => {
  it('is deleted once its probe says that it is empty, which its Deployment is told', async () => {
    const lab = aLab();
    lab.seed();
    await lab.running.drain();
    expect(lab.names()).toEqual([]);
    expect(lab.sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET http://10.1.2.3:8080/sessions',
    ]);
    expect(lab.running.events).toEqual([
      'Normal PodDrained Deleted pod web-1, which drained: http :8080/sessions == 0',
    ]);
  });

  it('stays while it has sessions, and is asked every ten seconds', async () => {
    const lab = aLab({ status: 200, body: '7\n' });
    lab.seed();
    await lab.running.drain();
    expect(lab.names()).toEqual(['web-1']);
    expect(lab.running.requeues.get('default/web-1')).toBe(10_000);
  });

  it.each<[string, Answer]>([
    ['does not answer', new NoAnswerError('no answer (ECONNREFUSED)')],
    ['answers an error', { status: 503, body: '0' }],
    ['answers a redirect', { status: 302, body: '0' }],
    ['answers no number', { status: 200, body: 'none' }],
    ['answers nothing', { status: 200, body: '' }],
  ])('stays if it %s, is asked ever more rarely, and an Event says so once', async (_name, answer) => {
    const lab = aLab(answer);
    lab.seed();
    const waits: (number | undefined)[] = [];
    for (let round = 0; round < 6; round++) {
      lab.running.add('default/web-1');
      await lab.running.drain();
      waits.push(lab.running.requeues.get('default/web-1'));
    }
    expect(waits).toEqual([20_000, 40_000, 80_000, 120_000, 120_000, 120_000]);
    expect(lab.names()).toEqual(['web-1']);
    expect(lab.running.events).toHaveLength(1);
    expect(lab.running.events[0]).toContain('Warning PodDrainUnknown Pod web-1 drains, and does not say');
  });

  it('goes after the longest time, whatever it says', async () => {
    const lab = aLab({ status: 200, body: '7' });
    lab.seed({ agoMs: 3_600_000 });
    await lab.running.drain();
    expect(lab.names()).toEqual([]);
    expect(lab.sent).toEqual([]);
    expect(lab.running.events[0]).toContain(
      'Warning PodDrainEnded Deleted pod web-1, which drained: it drained for 1h',
    );
  });

  it('is looked at again when its time is over, if that is sooner than the next probe', async () => {
    const lab = aLab({ status: 200, body: '7' });
    lab.seed({ agoMs: 3_599_000 });
    await lab.running.drain();
    expect(lab.running.requeues.get('default/web-1')).toBe(1000);
  });

  it('goes if newer versions fill the number that may drain', async () => {
    const lab = aLab({ status: 200, body: '7' });
    lab.seed({ name: 'old', version: 'web-a', agoMs: 3000 });
    lab.seed({ name: 'mid-1', version: 'web-b', agoMs: 2000 });
    lab.seed({ name: 'mid-2', version: 'web-b', agoMs: 2500 });
    lab.seed({ name: 'new', version: 'web-c', agoMs: 1000 });
    await lab.running.drain();
    expect(lab.names().toSorted()).toEqual(['mid-1', 'mid-2', 'new']);
    expect(lab.running.events).toEqual([
      'Warning PodDrainEnded Deleted pod old, which drained: its version is older than the 2 that may drain at once',
    ]);
  });

  it('costs no request while there is no slot for its probe, looks ever more rarely, and still ends in time', async () => {
    const lab = aLab(undefined, new NamespaceSlots({ inAll: 0, ofNamespace: 0 }));
    lab.seed();
    lab.seed({ name: 'late', agoMs: 3_600_000 });
    const waits: (number | undefined)[] = [];
    for (let round = 0; round < 6; round++) {
      lab.running.add('default/web-1');
      await lab.running.drain();
      waits.push(lab.running.requeues.get('default/web-1'));
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 16_000]);
    expect(lab.names()).toEqual(['web-1']);
    expect(lab.cluster.count('get', Pod)).toBe(1);
  });

  it('stays however many pods of another namespace claim to drain for its Deployment', async () => {
    const lab = aLab({ status: 200, body: '7' });
    lab.seed({ name: 'real', version: 'web-a', agoMs: 3000 });
    for (const version of ['x', 'y', 'z'])
      lab.seed({ name: version, version, edit: ({ metadata }) => (metadata.namespace = 'other') });
    await lab.running.drain();
    expect(lab.names()).toContain('real');
  });

  it.each([
    ['until "annotation example.com/idle == yes"', {}, ['web-1']],
    ['until "annotation example.com/idle == yes"', { 'example.com/idle': 'no' }, ['web-1']],
    ['until "annotation example.com/idle == yes"', { 'example.com/idle': 'yes' }, []],
  ])('%s is read from its annotations %j, without a request', async (rule, annotations, left) => {
    const lab = aLab();
    lab.seed({
      rule,
      edit: ({ metadata }) => (metadata.annotations = { ...metadata.annotations, ...annotations }),
    });
    await lab.running.drain();
    expect(lab.names()).toEqual(left);
    expect(lab.sent).toEqual([]);
  });

  it.each([
    ['http :80/s .open.web == 0', '{"open":{"web":0}}', true],
    ['http :80/s .open.1 == 0', '{"open":[5,0]}', true],
    ['http :80/s .open == 3', '{"open":"3"}', true],
    ['http :80/s .open == 0', '{"other":0}', false],
    ['http :80/s .__proto__ == 0', '{}', false],
    [
      'metric :90/metrics sessions == 0',
      '# TYPE sessions gauge\nsessions{a="}"} 0\nsessions{a="b"} 0\n',
      true,
    ],
    ['metric :90/metrics sessions == 0', 'sessions{a="x"} 0\nsessions{a="y"} 2\nsessions_total 9\n', false],
    ['metric :90/metrics sessions == 9', 'sessions_total 9\nsessions 9 1700000000\n', true],
    ['metric :90/metrics sessions == 0', 'sessions NaN\n', false],
    ['metric :90/metrics sessions == 0', 'others 0\n', false],
  ])('%s of %j: is empty: %s', async (condition, body, isEmpty) => {
    const lab = aLab({ status: 200, body });
    lab.seed({ rule: `until "${condition}"` });
    await lab.running.drain();
    expect(lab.names()).toEqual(isEmpty ? [] : ['web-1']);
  });

  it.each<[string, (pod: Pod) => void]>([
    ['has the network of its node', ({ spec }) => (spec.hostNetwork = true)],
    ['has the address of its node', ({ status }) => (status!.podIP = '192.168.0.1')],
    ['has no address', ({ status }) => delete status!.podIP],
    ['has a name as its address', ({ status }) => (status!.podIP = 'evil.example')],
    ['has an address with a path', ({ status }) => (status!.podIP = '10.0.0.1/x')],
    ['claims a loopback address', ({ status }) => (status!.podIP = '127.0.0.1')],
    ['claims the address of metadata', ({ status }) => (status!.podIP = '169.254.169.254')],
    ['claims it in IPv6', ({ status }) => (status!.podIP = '::ffff:169.254.169.254')],
    ['claims an address of a link', ({ status }) => (status!.podIP = 'fe80::1')],
  ])('is asked nothing if it %s', async (_name, edit) => {
    const lab = aLab();
    lab.seed({ edit });
    await lab.running.drain();
    expect(lab.sent).toEqual([]);
    expect(lab.names()).toEqual(['web-1']);
  });

  it('is asked by IPv6 as well', async () => {
    const lab = aLab();
    lab.seed({ edit: ({ status }) => (status!.podIP = 'fd00:10::5') });
    await lab.running.drain();
    expect(lab.sent.map(({ url }) => url)).toEqual(['http://[fd00:10::5]:8080/sessions']);
  });

  it.each<[string, (pod: Pod) => void]>([
    ['has ended', ({ status }) => (status!.phase = 'Succeeded')],
    [
      'has no container that runs',
      ({ status }) =>
        (status!.containerStatuses = [
          { name: 'app', image: 'x', imageID: '', restartCount: 1, ready: false, state: { waiting: {} } },
        ]),
    ],
  ])('goes without a request if it %s', async (_name, edit) => {
    const lab = aLab();
    lab.seed({ edit });
    await lab.running.drain();
    expect([lab.names(), lab.sent]).toEqual([[], []]);
  });

  it('goes on draining without its Deployment, if that was deleted without its pods', async () => {
    const lab = aLab();
    lab.seed({ edit: ({ metadata }) => delete metadata.ownerReferences });
    await lab.running.drain();
    expect(lab.names()).toEqual([]);
  });

  it.each<[string, (pod: Pod) => void]>([
    ['a StatefulSet controls it', ({ metadata }) => (metadata.ownerReferences![0]!.kind = 'StatefulSet')],
    ['another object controls it', ({ metadata }) => (metadata.ownerReferences![0]!.uid = 'other')],
    ['its note cannot be read', ({ metadata }) => (metadata.annotations = { 'rollkeeper.dev/drain': '{' })],
    ['it has no such label', ({ metadata }) => (metadata.labels = { app: 'web' })],
    ['it is being deleted', ({ metadata }) => (metadata.deletionTimestamp = '2026-01-01T00:00:00Z')],
  ])('is left alone if %s: a note alone deletes no pod of others', async (_name, edit) => {
    const lab = aLab();
    lab.seed({ agoMs: 9_000_000, edit });
    await lab.running.drain();
    expect(lab.names()).toEqual(['web-1']);
    expect(lab.cluster.count('delete', Pod)).toBe(0);
  });
});
