import { describe, expect, it } from 'vitest';
import { summarizePod } from '../apiserver/kinds/core/pod/pod-status-word.js';
import { IMAGE_PULL_AFTER_ANNOTATION, IMAGE_PULL_FAILURES_ANNOTATION, decidePull } from './image-pull.js';
import { startingPod, play, waitingReason } from './pod-lifecycle.fixture.js';

const pulling = (after: string, failures = '0') =>
  startingPod({
    annotations: { [IMAGE_PULL_AFTER_ANNOTATION]: after, [IMAGE_PULL_FAILURES_ANNOTATION]: failures },
  });

describe('decidePull', () => {
  it('is at once by default', () => {
    expect(decidePull({ takesMs: 0, failures: 0 }, 0)).toEqual({ stage: 'done', untilMs: 0 });
  });

  it.each([
    [0, 'pulling', 5],
    [5, 'failed', 7],
    [7, 'backing-off', 15],
    [15, 'backing-off', 20],
    [20, 'failed', 22],
    [22, 'backing-off', 40],
    [40, 'backing-off', 45],
    [45, 'done', 45],
  ])('with two failures of 5 s each it is, after %i s, %s until %i s', (atS, stage, untilS) => {
    expect(decidePull({ takesMs: 5_000, failures: 2 }, atS * 1000)).toEqual({
      stage,
      untilMs: untilS * 1000,
    });
  });

  it('backs off for five minutes at most', () => {
    const { stage, untilMs } = decidePull({ takesMs: 0, failures: Infinity }, 86_400_000);
    expect(stage).toBe('backing-off');
    expect(untilMs - 86_400_000).toBeLessThanOrEqual(300_000);
  });
});

describe('a pod whose image takes time', () => {
  it('is ContainerCreating until the image is there, and says how long it took', () => {
    const { events, written } = play(pulling('5s'), 60_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, status.phase, waitingReason(status)])).toEqual([
      [0, 'Pending', 'ContainerCreating'],
      [5, 'Running', undefined],
    ]);
    expect(events).toEqual([
      'Normal Pulling Pulling image "nginx:1.27"',
      'Normal Pulled Successfully pulled image "nginx:1.27" in 5s (5s including waiting). Image size: 50000000 bytes.',
    ]);
  });

  it('fails as often as it is asked to, and succeeds then', () => {
    const { events, pod, written } = play(pulling('1s', '1'), 60_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, waitingReason(status)])).toEqual([
      [0, 'ContainerCreating'],
      [1, 'ErrImagePull'],
      [3, 'ImagePullBackOff'],
      [12, undefined],
    ]);
    expect(pod.status?.phase).toBe('Running');
    expect(events.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'Normal Pulling',
      'Warning Failed',
      'Warning Failed',
      'Normal BackOff',
      'Warning Failed',
      'Normal Pulling',
      'Normal Pulled',
    ]);
    expect(written[2]?.status.containerStatuses?.[0]?.state?.waiting?.message).toMatch(
      /^Back-off pulling image "nginx:1.27": ErrImagePull: failed to pull/,
    );
  });

  it('waits for images one after the other where it has init containers', () => {
    const pod = pulling('4s');
    pod.spec.initContainers = [{ name: 'init', image: 'busybox' }];
    const { written } = play(pod, 60_000);
    const words = written.map(({ atMs, status }) => [atMs / 1000, summarizePod({ ...pod, status }).word]);
    expect(words).toEqual([
      [0, 'Init:0/1'],
      [4, 'PodInitializing'],
      [8, 'Running'],
    ]);
  });

  it('does not wait for an image that its node has, unless the registry is asked each time', () => {
    const hasImage = (image: string): boolean => image === 'nginx:1.27';
    expect(play(pulling('5s'), 60_000, { hasImage }).written).toHaveLength(1);
    const always = pulling('5s');
    always.spec.containers = [{ name: 'main', image: 'nginx:1.27', imagePullPolicy: 'Always' }];
    expect(play(always, 60_000, { hasImage }).written).toHaveLength(2);
  });

  it('does not wait for it again when its container is started again', () => {
    const pod = pulling('5s');
    pod.spec.containers = [{ name: 'main', image: 'nginx:1.27', command: ['false'] }];
    const { written } = play(pod, 20_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, waitingReason(status)])).toEqual([
      [0, 'ContainerCreating'],
      [5, undefined],
      [6, undefined],
      [7, undefined],
      [8, 'CrashLoopBackOff'],
      [18, undefined],
      [19, 'CrashLoopBackOff'],
    ]);
  });
});
