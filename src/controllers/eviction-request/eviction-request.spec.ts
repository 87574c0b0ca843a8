import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, toRfc3339 } from '../../machinery/clock/index.js';
import type {
  EvictionIntent,
  ResponderStatus,
  WithEvictionResponders,
} from '../../machinery/kubernetes/index.js';
import {
  Eviction,
  EvictionRequest,
  Pod,
  checkDns1123Subdomain,
  checkQualifiedName,
  findCondition,
} from '../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { FakeInformers } from '../../testing/fake-informers.js';
import { aPod } from '../../testing/pod-builder.js';
import { runController } from '../../testing/run-controller.js';
import { attemptsIn, retryAfterMs } from './imperative-responder.js';
import { EVICTION_REQUEST_CONTROLLERS } from './index.js';
import { ApiStatusError } from '../../client/api-client/index.js';

const MINUTE_MS = 60_000;
const DRAINER = 'example.com/drainer';
const EVICTOR = 'imperative-eviction.k8s.io/evictor';
const UID = '0f7c1e2a-0000-4000-8000-00000000000a';

function aLab() {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const informers = new FakeInformers(cluster);
  const running = EVICTION_REQUEST_CONTROLLERS.map((each) =>
    runController(each, cluster, { clock, informers }),
  );
  const lab = {
    ...{ clock, cluster, informers },
    /** Until no controller has anything to do. */
    async rest(): Promise<void> {
      for (let before = -1; before !== cluster.requests.length;) {
        before = cluster.requests.length;
        // Responders first: the controller gives them time to report.
        for (const each of running.toReversed()) {
          const { errors } = await each.drain();
          for (const [key, error] of errors) {
            if (!(error instanceof ApiStatusError) || error.status.code !== 409) throw error;
            each.add(key);
          }
        }
      }
    },
    pod(responders: readonly { name: string; priority: number }[] = []): void {
      const pod: Pod = aPod({ name: 'web-1', phase: 'Running' });
      pod.metadata.uid = UID;
      const spec: Pod['spec'] & WithEvictionResponders = { ...pod.spec, evictionResponders: [...responders] };
      cluster.seed(Pod, { ...pod, spec });
    },
    request(name = 'r', spec: Partial<EvictionRequest['spec']> = {}): void {
      cluster.seed<EvictionRequest>(EvictionRequest, {
        ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest' },
        metadata: { name, namespace: 'default', generation: 1 },
        spec: {
          target: { pod: { name: 'web-1', uid: UID } },
          ...{ requester: DRAINER, intent: 'Eviction' },
          ...spec,
        },
      });
    },
    async intend(intent: EvictionIntent, name = 'r'): Promise<void> {
      const body = { spec: { intent } };
      await cluster.patch(EvictionRequest, { namespace: 'default', name }, { type: 'merge', body });
    },
    evictions: (): Eviction[] => cluster.all<Eviction>(Eviction),
    states: (): string[] =>
      lab.evictions()[0]?.status?.targetResponders?.map(({ name, state }) => `${name} ${state}`) ?? [],
    result: (name = 'r'): string[] => {
      const { status } = cluster.peek<EvictionRequest>(EvictionRequest, `default/${name}`) ?? {};
      return ['TargetEvicted', 'Failed'].map((type) => {
        const found = findCondition(status?.conditions, type);
        return `${type}=${found?.status} ${found?.reason}`;
      });
    },
    async report(responder: string, change: Partial<ResponderStatus>): Promise<void> {
      const [eviction] = lab.evictions();
      const responders = eviction?.status?.responders?.map((each) =>
        each.name === responder ? { ...each, ...change } : each,
      );
      const ref = { namespace: 'default', name: eviction?.metadata.name ?? '' };
      await cluster.patch(Eviction, ref, { type: 'merge', body: { status: { responders } } });
    },
    wake(): void {
      for (const { metadata } of lab.evictions())
        for (const each of running.slice(1)) each.add(`default/${metadata.name}`);
    },
  };
  return lab;
}

let lab: ReturnType<typeof aLab>;
beforeEach(() => {
  lab = aLab();
  // The fake has no budgets, and evicts by a creation.
  lab.cluster.intercept = ({ subresource, type, verb }) => {
    if (verb === 'create' && subresource === 'eviction' && type.resource === 'pods') return REFUSED;
    return undefined;
  };
});
const REFUSED = new ApiStatusError({
  ...{ code: 429, reason: 'TooManyRequests' },
  message: 'Cannot evict pod as it would violate the disruption budget of the pod.',
});

describe('the request of an eviction', () => {
  it('becomes one eviction, however many ask for it', async () => {
    lab.pod();
    lab.request('r');
    lab.request('s', { requester: 'example.com/other' });
    await lab.rest();
    const [eviction, ...others] = lab.evictions();
    expect(others).toEqual([]);
    expect(eviction?.metadata).toMatchObject({
      name: 'pod-1-web-1',
      labels: { [DRAINER]: 'requester', 'example.com/other': 'requester', [EVICTOR]: 'responder' },
    });
    expect(eviction?.metadata.ownerReferences?.map(({ name }) => name).toSorted()).toEqual(['r', 's']);
    expect(eviction?.status?.requesters).toEqual([
      { name: DRAINER, intent: 'Eviction' },
      { name: 'example.com/other', intent: 'Eviction' },
    ]);
    expect(lab.result()).toEqual(['TargetEvicted=False AwaitingEviction', 'Failed=False AwaitingEviction']);
  });

  it.each<[string, Partial<EvictionRequest['spec']>, string]>([
    ['is not there', { target: { pod: { name: 'web-2', uid: UID } } }, 'Pod web-2 was not found'],
    [
      'is another one of the name',
      { target: { pod: { name: 'web-1', uid: UID.replace('a', 'b') } } },
      `Pod web-1 has another UID, ${UID}`,
    ],
  ])('fails if its pod %s', async (_name, spec, message) => {
    lab.pod();
    lab.request('r', spec);
    await lab.rest();
    expect(lab.evictions()).toEqual([]);
    expect(lab.result()).toEqual(['TargetEvicted=False EvictionFailed', 'Failed=True EvictionInvalid']);
    const { status } = lab.cluster.peek<EvictionRequest>(EvictionRequest, 'default/r') ?? {};
    expect(findCondition(status?.conditions, 'Failed')?.message).toBe(message);
  });

  it('ends when all have withdrawn, and begins anew when one asks again', async () => {
    lab.pod([{ name: 'acme.io/a', priority: 2000 }]);
    lab.request('r');
    lab.request('s', { requester: 'example.com/other' });
    await lab.rest();
    await lab.intend('Withdrawn');
    await lab.rest();
    expect(lab.states()).toEqual(['acme.io/a Active', `${EVICTOR} Inactive`]);
    await lab.intend('Withdrawn', 's');
    await lab.rest();
    expect(lab.states()).toEqual(['acme.io/a Canceled', `${EVICTOR} Inactive`]);
    expect(lab.result('s')).toEqual([
      'TargetEvicted=False EvictionFailed',
      'Failed=True CanceledDueToNoRequesters',
    ]);
    await lab.intend('Eviction', 's');
    await lab.rest();
    expect(lab.evictions().map(({ metadata }) => metadata.name)).toEqual(['pod-1-web-1', 'pod-2-web-1']);
    expect(lab.result('s')).toEqual([
      'TargetEvicted=False AwaitingEviction',
      'Failed=False AwaitingEviction',
    ]);
  });

  it('succeeds for all when the pod is gone', async () => {
    lab.pod();
    lab.request();
    await lab.rest();
    lab.cluster.vanish(Pod, 'default/web-1');
    await lab.rest();
    expect(lab.result()).toEqual(['TargetEvicted=True PodDeleted', 'Failed=False Succeeded']);
  });
});

describe('a second eviction that a user has made by hand', () => {
  const A = { name: 'acme.io/a', priority: 2000 };
  const BY_HAND = 'mine';
  const make = (status?: Eviction['status']): void =>
    void lab.cluster.seed<Eviction>(Eviction, {
      ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'Eviction' },
      metadata: { name: BY_HAND, namespace: 'default' },
      spec: { target: { pod: { name: 'web-1', uid: UID } } },
      ...(status && { status }),
    });
  const byHand = (): Eviction | undefined =>
    lab.evictions().find(({ metadata }) => metadata.name === BY_HAND);
  const isRefused = (): void => {
    const found = findCondition(byHand()?.status?.conditions, 'Failed');
    expect(found).toMatchObject({ status: 'True', reason: 'EvictionInvalid' });
  };
  const GOES_ON = ['TargetEvicted=False AwaitingEviction', 'Failed=False AwaitingEviction'];

  it('is refused, and no responder gets a turn in it', async () => {
    lab.pod();
    lab.request();
    await lab.rest();
    await lab.clock.advance(1000);
    make();
    await lab.rest();
    isRefused();
    expect(byHand()?.status?.targetResponders).toBeUndefined();
    expect(lab.result()).toEqual(GOES_ON);
  });

  it('does not interrupt a responder of the first, also of the same second and with an earlier name', async () => {
    lab.pod([A]);
    lab.request();
    await lab.rest();
    make();
    await lab.rest();
    isRefused();
    expect(lab.states()).toEqual([`${A.name} Active`, `${EVICTOR} Inactive`]);
  });

  it('does not end the request when the first one is deleted: another one is made', async () => {
    lab.pod();
    lab.request();
    await lab.rest();
    await lab.clock.advance(1000);
    make();
    await lab.rest();
    lab.cluster.vanish(Eviction, 'default/pod-1-web-1');
    await lab.rest();
    expect(lab.result()).toEqual(GOES_ON);
    lab.cluster.vanish(Pod, 'default/web-1');
    await lab.rest();
    expect(lab.result()).toEqual(['TargetEvicted=True PodDeleted', 'Failed=False Succeeded']);
  });

  it('does not end the request when the first one fails in the same second', async () => {
    lab.pod([A]);
    lab.request();
    await lab.rest();
    make();
    await lab.rest();
    await lab.intend('Withdrawn');
    await lab.rest();
    expect(lab.result()[1]).toBe('Failed=True CanceledDueToNoRequesters');
    await lab.intend('Eviction');
    await lab.rest();
    expect(lab.result()).toEqual(GOES_ON);
  });

  it('loses its turns if both have begun before the cache showed them together', async () => {
    lab.pod();
    lab.request();
    await lab.rest();
    await lab.clock.advance(1000);
    make({
      targetResponders: [{ name: EVICTOR, priority: 100, state: 'Active' }],
      responders: [{ name: EVICTOR, startTime: toRfc3339(lab.clock.now()) }],
    });
    await lab.rest();
    isRefused();
    expect(byHand()?.status?.targetResponders?.map(({ state }) => state)).toEqual(['Canceled']);
    expect(lab.result()).toEqual(GOES_ON);
  });

  it('is adopted if there is no first one', async () => {
    lab.pod();
    lab.request();
    make();
    await lab.rest();
    expect(lab.evictions().map(({ metadata }) => metadata.name)).toEqual([BY_HAND]);
    expect(byHand()?.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['r']);
    expect(lab.result()).toEqual(GOES_ON);
  });
});

describe('the name of an eviction', () => {
  const LONGEST = 253;
  const named = async (...names: readonly string[]): Promise<string[]> => {
    names.forEach((name, index) => {
      const pod = aPod({ name, phase: 'Running' });
      pod.metadata.uid = UID.replace(/.$/, String(index));
      lab.cluster.seed(Pod, pod);
      lab.request(`r-${index}`, { target: { pod: { name, uid: pod.metadata.uid } } });
    });
    await lab.rest();
    return lab.evictions().map(({ metadata }) => metadata.name);
  };

  it('is that of the pod with a number, if both have room', async () => {
    const name = 'x'.repeat(LONGEST - 'pod-1-'.length);
    expect(await named(name)).toEqual([`pod-1-${name}`]);
  });

  it('loses the end of the longest names, and pods that differ there alone share their numbers', async () => {
    const begin = 'x'.repeat(LONGEST - 2);
    const names = await named(`${begin}-a`, `${begin}-b`, `${begin}-c`);
    expect(names.map((each) => each.slice(0, 10))).toEqual(['pod-1-xxxx', 'pod-2-xxxx', 'pod-3-xxxx']);
    expect(lab.evictions().map(({ spec }) => spec.target.pod?.name)).toEqual(
      ['a', 'b', 'c'].map((end) => `${begin}-${end}`),
    );
  });

  it.each(['--', '---', '.'])('is valid if it is cut within %j', async (middle) => {
    const cut = LONGEST - 'pod-1-'.length;
    const begin = 'x'.repeat(cut - middle.length);
    const [name = ''] = await named(`${begin}${middle}${'y'.repeat(LONGEST - cut)}`);
    expect(name).toBe(`pod-1-${begin}`);
    expect(checkDns1123Subdomain(name)).toEqual([]);
  });

  it('leaves room for names of requesters of any valid length as its labels', async () => {
    lab.pod();
    const requester = `${'d'.repeat(63)}.io/${'k'.repeat(63)}`;
    lab.request('r', { requester });
    await lab.rest();
    expect(lab.evictions()[0]?.metadata.labels?.[requester]).toBe('requester');
    expect(checkQualifiedName(requester)).toEqual([]);
  });
});

describe('an eviction that more requests ask for than it can name', () => {
  const MANY = 250;
  const add = (from: number, count: number): void => {
    for (let at = from; at < from + count; at++)
      lab.request(`r-${at}`, { requester: `example.com/drainer-${at}` });
  };
  const sizes = () => {
    const [{ metadata, status } = {} as Partial<Eviction>] = lab.evictions();
    const asking = Object.values(metadata?.labels ?? {}).filter((role) => role === 'requester');
    return [asking.length, metadata?.ownerReferences?.length, status?.requesters?.length];
  };

  it('names a hundred, and all requests get its result', async () => {
    lab.pod();
    add(0, MANY);
    await lab.rest();
    expect(sizes()).toEqual([100, 100, 100]);
    lab.cluster.vanish(Pod, 'default/web-1');
    await lab.rest();
    for (let at = 0; at < MANY; at++) expect(lab.result(`r-${at}`)[0]).toBe('TargetEvicted=True PodDeleted');
  });

  it('is owned by others when its owners are deleted, so it is not collected', async () => {
    lab.pod();
    add(0, MANY);
    await lab.rest();
    const owners = lab.evictions()[0]?.metadata.ownerReferences ?? [];
    const deleted = new Set(owners.map(({ uid }) => uid));
    for (const { name } of owners) lab.cluster.vanish(EvictionRequest, `default/${name}`);
    await lab.rest();
    const now = lab.evictions()[0]?.metadata.ownerReferences ?? [];
    expect(now.filter(({ uid }) => !deleted.has(uid))).toHaveLength(100);
  });
});

describe('caches that do not have a new pod yet', () => {
  it('fail no request, and take no pod for gone', async () => {
    lab.informers.pause();
    lab.pod();
    lab.informers.dropHeld();
    lab.informers.resume();
    lab.request();
    await lab.rest();
    expect(lab.result()).toEqual(['TargetEvicted=False AwaitingEviction', 'Failed=False AwaitingEviction']);
    expect(lab.states()).toEqual([`${EVICTOR} Active`]);
    expect(lab.evictions()[0]?.status?.responders?.[0]?.message).toContain('cannot be evicted');
  });
});

describe('the turns of the responders', () => {
  const A = { name: 'a.acme.io/x', priority: 2000 };
  const B = { name: 'z.acme.com/x', priority: 2000 };

  it('begin with the highest priority, and of equal ones with the first domain from its end', async () => {
    lab.pod([A, B, { name: 'low.io/x', priority: 1000 }]);
    lab.request();
    await lab.rest();
    expect(lab.states()).toEqual([
      'z.acme.com/x Active',
      'a.acme.io/x Inactive',
      'low.io/x Inactive',
      `${EVICTOR} Inactive`,
    ]);
    expect(lab.evictions()[0]?.status?.responders?.map(({ startTime }) => startTime !== undefined)).toEqual([
      ...[true, false, false, false],
    ]);
  });

  it('pass on when one says that it is done', async () => {
    lab.pod([A]);
    lab.request();
    await lab.rest();
    await lab.report(A.name, { completionTime: toRfc3339(lab.clock.now()) });
    await lab.rest();
    expect(lab.states()).toEqual([`${A.name} Completed`, `${EVICTOR} Active`]);
  });

  it('pass on from one that has given no sign of life for 20 minutes, and not before', async () => {
    lab.pod([A]);
    lab.request();
    await lab.rest();
    await lab.clock.advance(10 * MINUTE_MS);
    await lab.report(A.name, { heartbeatTime: toRfc3339(lab.clock.now()) });
    await lab.rest();
    await lab.clock.advance(20 * MINUTE_MS - 1000);
    lab.wake();
    await lab.rest();
    expect(lab.states()[0]).toBe(`${A.name} Active`);
    await lab.clock.advance(1000);
    lab.wake();
    await lab.rest();
    expect(lab.states()).toEqual([`${A.name} Interrupted`, `${EVICTOR} Active`]);
  });
});

describe('the last responder', () => {
  it('evicts within the budgets, tries again ever more rarely, and says so', async () => {
    lab.pod();
    lab.request();
    await lab.rest();
    const messages = (): (string | undefined)[] =>
      lab.evictions()[0]?.status?.responders?.map(({ message }) => message) ?? [];
    expect(messages()[0]).toContain('Pod web-1 cannot be evicted (attempts=1): Cannot evict pod');
    await lab.clock.advance(4000);
    lab.wake();
    await lab.rest();
    expect(messages()[0]).toContain('(attempts=1)');
    await lab.clock.advance(1000);
    lab.wake();
    await lab.rest();
    expect(messages()[0]).toContain('(attempts=2)');
  });

  it('never lets its own heartbeat be overdue', () => {
    expect([0, 1, 2, 3, 7, 999_999].map(retryAfterMs)).toEqual([
      5000, 5000, 10_000, 20_000, 180_000, 180_000,
    ]);
    expect([undefined, '', 'x (attempts=12): y', 'x (attempts=9999999)'].map(attemptsIn)).toEqual([
      ...[0, 0, 12, 0],
    ]);
  });

  it('is done when the pod is gone', async () => {
    lab.pod();
    lab.request();
    await lab.rest();
    lab.cluster.vanish(Pod, 'default/web-1');
    await lab.rest();
    const [report] = lab.evictions()[0]?.status?.responders ?? [];
    expect(report?.message).toBe('Pod web-1 is gone');
    expect(report?.completionTime).toBeDefined();
    expect(lab.result()[0]).toBe('TargetEvicted=True PodDeleted');
  });
});
