import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../machinery/kubernetes/index.js';
import { addedText, decideContainer, decideLog, logOptionsOf } from './pod-log.js';

const RUNNING = { running: { startedAt: '2026-01-02T03:04:05Z' } };
const ALL = logOptionsOf(new URLSearchParams(), 'p');

function pod(change: { log?: string; state?: object; lastState?: object; spec?: object } = {}): Pod {
  return {
    metadata: {
      name: 'p',
      namespace: 'shop',
      annotations: change.log === undefined ? {} : { 'node.rollkeeper.dev/logs.web': change.log },
    },
    spec: { nodeName: 'node-0', containers: [{ name: 'web' }], ...change.spec },
    status: {
      hostIP: '10.0.0.1',
      containerStatuses: [{ name: 'web', state: change.state ?? RUNNING, lastState: change.lastState }],
    },
  } as unknown as Pod;
}

const logOf = (of: Pod, query = ''): string =>
  decideLog(of, 'web', logOptionsOf(new URLSearchParams(query), 'p'));

describe('the log of a container', () => {
  it.each([
    ['', 'one\ntwo\n'],
    ['tailLines=1', 'two\n'],
    ['tailLines=0', ''],
    ['tailLines=9', 'one\ntwo\n'],
    ['limitBytes=5', 'one\nt'],
    ['tailLines=1&timestamps=true', '2026-01-02T03:04:05Z two\n'],
  ])('is what the annotation says, as far as %j asks for it', (query, expected) => {
    expect(logOf(pod({ log: 'one\ntwo' }), query)).toBe(expected);
    expect(logOf(pod({ log: 'one\ntwo\n' }), query)).toBe(expected);
  });

  it('is what is said of all containers, where nothing is said of this one', () => {
    const of = pod();
    of.metadata.annotations = { 'node.rollkeeper.dev/logs': 'all\n' };
    expect(logOf(of)).toBe('all\n');
    of.metadata.annotations['node.rollkeeper.dev/logs.web'] = 'web\n';
    expect(logOf(of)).toBe('web\n');
  });

  it.each([
    ['tailLines=-1', 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    [
      'sinceSeconds=1&sinceTime=x',
      '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['stream=Stdout', 'stream: Forbidden: may not be specified'],
  ])('is refused for %s', (query, problem) => {
    const read = () => logOptionsOf(new URLSearchParams(query), 'p');
    expect(read).toThrow(`PodLogOptions "p" is invalid: ${problem}`);
  });

  it('is refused for a number that is none', () => {
    const read = () => logOptionsOf(new URLSearchParams('tailLines=x'), 'p');
    expect(read).toThrow('strconv.ParseInt: parsing "x": invalid syntax');
  });

  it('cannot be had without the annotation, as of a node that does not answer', () => {
    expect(() => logOf(pod())).toThrow(
      'Get "https://10.0.0.1:10250/containerLogs/shop/p/web": dial tcp 10.0.0.1:10250: connect: connection refused',
    );
  });

  it.each([
    [{ waiting: { reason: 'ImagePullBackOff' } }, 'trying and failing to pull image'],
    [{ waiting: { reason: 'ErrImagePull' } }, "image can't be pulled"],
    [{ waiting: { reason: 'ContainerCreating' } }, 'ContainerCreating'],
  ])('is not there before the container has run: %j', (state, reason) => {
    expect(() => logOf(pod({ log: 'x', state }))).toThrow(
      `container "web" in pod "p" is waiting to start: ${reason}`,
    );
  });

  it('is there while it waits to be started again, and of the one before on request', () => {
    const crashed = {
      log: 'x',
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { startedAt: '2026-01-01T00:00:00Z' } },
    };
    expect(logOf(pod(crashed))).toBe('x\n');
    expect(logOf(pod(crashed), 'previous=true&timestamps=true')).toBe('2026-01-01T00:00:00Z x\n');
    expect(() => decideLog(pod({ log: 'x' }), 'web', { ...ALL, previous: true })).toThrow(
      'previous terminated container "web" in pod "p" not found',
    );
  });

  it('goes on with what the annotation grows by, and begins again where it is another', () => {
    expect(addedText(pod({ log: 'a\n' }), pod({ log: 'a\nb\n' }), 'web')).toBe('b\n');
    expect(addedText(pod({ log: 'a\n' }), pod({ log: 'a\n' }), 'web')).toBe('');
    expect(addedText(pod({ log: 'a\n' }), pod({ log: 'c\n' }), 'web')).toBe('c\n');
  });
});

describe('the container that is meant', () => {
  const two = pod({ spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] } });

  it('is the only one, or the one that is named', () => {
    expect(decideContainer(pod(), undefined)).toBe('web');
    expect(decideContainer(two, 'b')).toBe('b');
    expect(decideContainer(two, 'i')).toBe('i');
  });

  it('must be named where there are several, and be one of them', () => {
    expect(() => decideContainer(two, undefined)).toThrow(
      'a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]',
    );
    expect(() => decideContainer(two, 'c')).toThrow('container c is not valid for pod p');
  });
});
