import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/machinery/clock/index.js';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { aPod } from '../../src/testing/pod-builder.js';
import { compileConfiguration } from '../../src/scheduler/config/compile-configuration.js';
import type { NodeInfo } from '../../src/scheduler/framework/node-info.js';
import { nodeInfoOf } from '../../src/scheduler/node/node-info.js';
import { podInfoOf } from '../../src/scheduler/node/pod-info.js';
import { agreedVictims, askExtenders } from '../../src/scheduler/extender/ask-extenders.js';
import { HttpExtender } from '../../src/scheduler/extender/http-extender.js';

interface Request {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

const never = new AbortController().signal;
const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A real server; `answer` says what it answers to each request, undefined: nothing. */
async function aService(answer: (request: Request) => unknown) {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Request['body'];
      const one = { path: request.url ?? '', body };
      requests.push(one);
      const said = answer(one);
      if (said !== undefined) response.writeHead(said === 500 ? 500 : 200).end(JSON.stringify(said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x` };
}

function extenderAt(urlPrefix: string, fields: object = {}, clock: Clock = new SystemClock()) {
  const { extenders } = compileConfiguration({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    extenders: [{ urlPrefix, ...fields }],
  });
  const [config] = extenders;
  if (!config) throw new Error('there is no extender');
  return new HttpExtender(config, clock, 'extenders[0]');
}

const node = (name: string): NodeInfo =>
  nodeInfoOf(
    { apiVersion: 'v1', kind: 'Node', metadata: { name } },
    { pods: [], images: new Map(), generation: 1 },
  );
const nodes = ['a', 'b', 'c'].map(node);
const pod = podInfoOf(aPod({ name: 'p' }));
const ask = (...extenders: HttpExtender[]) => askExtenders(extenders, pod, nodes, silentLogger, never);

describe('filtering', () => {
  const filtering = { filterVerb: 'filter' };

  it('sends pod and nodes, and refuses with the given reasons', async () => {
    const { requests, url } = await aService(() => ({
      Nodes: { items: [{ metadata: { name: 'c' } }] },
      FailedNodes: { a: 'too old' },
      FailedAndUnresolvableNodes: { b: 'broken' },
    }));
    const { refusals } = await ask(extenderAt(url, filtering));
    expect(requests[0]).toMatchObject({
      path: '/x/filter',
      body: { Pod: { metadata: { name: 'p' } }, NodeNames: null },
    });
    expect(refusals?.get('a')).toMatchObject({ code: 'Unschedulable', reasons: ['too old'], plugin: url });
    expect(refusals?.get('b')).toMatchObject({ code: 'UnschedulableAndUnresolvable', reasons: ['broken'] });
    expect(refusals?.has('c')).toBe(false);
  });

  it('sends names alone to one that knows the nodes, and reads answers in any case', async () => {
    const { requests, url } = await aService(() => ({ nodenames: ['a'], failedNodes: { b: 'no', c: 'no' } }));
    const { refusals } = await ask(extenderAt(url, { ...filtering, nodeCacheCapable: true }));
    expect(requests[0]?.body).toMatchObject({ Nodes: null, NodeNames: ['a', 'b', 'c'] });
    expect([...(refusals?.keys() ?? [])]).toEqual(['b', 'c']);
  });

  it('asks the next one about what is left', async () => {
    const { requests, url } = await aService(({ body }) => ({
      NodeNames: (body['NodeNames'] as string[]).slice(1),
    }));
    const one = extenderAt(url, { ...filtering, nodeCacheCapable: true });
    const { refusals } = await ask(one, one);
    expect(requests.map(({ body }) => body['NodeNames'])).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
    ]);
    expect([...(refusals?.keys() ?? [])]).toEqual(['a', 'b']);
  });

  it.each([
    ['an error', () => ({ Error: 'no licence' }), 'no licence'],
    ['a failure', () => 500, 'it answered 500'],
    ['nonsense', () => ({ NodeNames: 5 }), 'its answer is not valid'],
    [
      'a node of its own',
      () => ({ Nodes: { items: [{ metadata: { name: 'z' } }] } }),
      'not found in the input node list',
    ],
  ])('fails the attempt by %s; an ignorable one is passed over', async (_what, answer, message) => {
    const { url } = await aService(answer);
    await expect(ask(extenderAt(url, filtering))).rejects.toThrow(message);
    const { refusals } = await ask(extenderAt(url, { ...filtering, ignorable: true }));
    expect(refusals?.size).toBe(0);
  });

  it('gives up after its timeout', async () => {
    const clock = new FakeClock();
    let asked = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (asked = resolve));
    const { url } = await aService(() => void asked());
    const answer = ask(extenderAt(url, { ...filtering, httpTimeout: '2s' }, clock));
    const failed = expect(answer).rejects.toThrow('no answer within 2000 ms');
    await arrived;
    await clock.advance(2000);
    await failed;
  });
});

it('scores are weighed, and on the scale of the plug-ins', async () => {
  const { url } = await aService(() => [
    { Host: 'a', Score: 10 },
    { host: 'b', score: 1 },
  ]);
  const { scores } = await ask(extenderAt(url, { prioritizeVerb: 'p', weight: 3 }));
  expect(scores).toEqual(
    new Map([
      ['a', 300],
      ['b', 30],
    ]),
  );
});

it('one that fails to score is passed over', async () => {
  const { url } = await aService(() => 500);
  const { scores } = await ask(extenderAt(url, { prioritizeVerb: 'p', weight: 3 }));
  expect(scores?.size).toBe(0);
});

it('is asked about pods that want its resources alone', () => {
  const extender = extenderAt('http://127.0.0.1:1', { managedResources: [{ name: 'example.com/gpu' }] });
  const wants = aPod();
  const [container] = wants.spec.containers;
  if (container) container.resources = { limits: { 'example.com/gpu': '1' } };
  expect([extender.concerns(wants), extender.concerns(aPod())]).toEqual([true, false]);
});

it('binds by its own means, and says what failed', async () => {
  const { requests, url } = await aService(({ body }) => (body['Node'] === 'b' ? { Error: 'taken' } : null));
  const extender = extenderAt(url, { bindVerb: 'bind' });
  await extender.bind(pod, 'a', never);
  expect(requests[0]?.body).toEqual({ PodName: 'p', PodNamespace: 'default', PodUID: 'uid-p', Node: 'a' });
  await expect(extender.bind(pod, 'b', never)).rejects.toThrow('taken');
});

describe('preempting', () => {
  const victims = [podInfoOf(aPod({ name: 'v' })), podInfoOf(aPod({ name: 'w' }))];
  const agree = (...extenders: HttpExtender[]) =>
    agreedVictims(extenders, pod, 'a', victims, silentLogger, never);

  it('may spare victims', async () => {
    const { url } = await aService(() => ({ NodeNameToMetaVictims: { a: { Pods: [{ UID: 'uid-w' }] } } }));
    const agreed = await agree(extenderAt(url, { preemptVerb: 'preempt' }));
    expect(agreed?.map(({ pod: victim }) => victim.metadata.name)).toEqual(['w']);
  });

  it('may refuse the node', async () => {
    const { requests, url } = await aService(() => ({ NodeNameToMetaVictims: {} }));
    expect(await agree(extenderAt(url, { preemptVerb: 'preempt', nodeCacheCapable: true }))).toBeUndefined();
    expect(requests[0]?.body).toMatchObject({
      NodeNameToVictims: null,
      NodeNameToMetaVictims: { a: { Pods: [{ UID: 'uid-v' }, { UID: 'uid-w' }] } },
    });
  });

  it('is left to the scheduler by an ignorable one that fails', async () => {
    const { url } = await aService(() => 500);
    expect(await agree(extenderAt(url, { preemptVerb: 'p', ignorable: true }))).toBe(victims);
    await expect(agree(extenderAt(url, { preemptVerb: 'p' }))).rejects.toThrow('it answered 500');
  });
});
