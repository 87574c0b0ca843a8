import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../machinery/kubernetes/index.js';
import { PROBE_ANNOTATIONS } from './decide-probes.js';
import { IMAGE_PULL_AFTER_ANNOTATION, IMAGE_PULL_FAILURES_ANNOTATION } from './image-pull.js';
import { newPodMemory, noteStatus } from './pod-runner.js';
import {
  BEHAVIOUR_ANNOTATION,
  ENDS_AFTER_ANNOTATION,
  EXIT_CODE_ANNOTATION,
  POD_BEHAVIOURS,
  READY_AFTER_ANNOTATION,
} from './pod-behaviour.js';
import {
  START,
  startingPod,
  behaving,
  condition,
  decide,
  play,
  stateWord,
  waitingReason,
} from './pod-lifecycle.fixture.js';

describe('a pod that works', () => {
  it('is running and ready by one write, and then rests', () => {
    const { written, pod } = play(startingPod(), 3_600_000);
    expect(written).toHaveLength(1);
    expect(pod.status).toMatchObject({
      phase: 'Running',
      podIP: '10.0.0.2',
      hostIP: '172.18.0.2',
      startTime: '2026-01-01T00:00:00Z',
      containerStatuses: [{ name: 'main', image: 'nginx:1.27', ready: true, restartCount: 0 }],
    });
    for (const type of ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready']) {
      expect(condition(pod.status, type)?.status).toBe('True');
    }
  });

  it('becomes ready after the delay that the node has', () => {
    const { written } = play(startingPod(), 60_000, { readyDelayMs: 3_000 });
    expect(written.map(({ atMs, status }) => [atMs, condition(status, 'Ready')?.status])).toEqual([
      [0, 'False'],
      [3_000, 'True'],
    ]);
    expect(condition(written[0]?.status, 'Ready')).toMatchObject({
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
    });
  });

  it('becomes ready after the time that it asks for itself', () => {
    const pod = startingPod({ annotations: { [READY_AFTER_ANNOTATION]: '5s' } });
    expect(play(pod, 60_000).written.map(({ atMs }) => atMs)).toEqual([0, 5_000]);
  });

  it('waits for its readiness gates', () => {
    const pod = startingPod({}, { readinessGates: [{ conditionType: 'example.com/gate' }] });
    const { pod: waiting } = play(pod, 1_000);
    expect(condition(waiting.status, 'ContainersReady')?.status).toBe('True');
    expect(condition(waiting.status, 'Ready')?.reason).toBe('ReadinessGatesNotReady');
    waiting.status?.conditions?.push({ type: 'example.com/gate', status: 'True' });
    const { pod: open } = play(waiting, 1_000);
    expect(condition(open.status, 'Ready')?.status).toBe('True');
    expect(condition(open.status, 'example.com/gate')?.status).toBe('True');
  });

  it('starts its container again with the new image when the image changes', () => {
    const { pod } = play(startingPod(), 1_000);
    pod.spec.containers = [{ name: 'main', image: 'nginx:1.28' }];
    const plan = decide(pod, 10_000);
    expect(plan).toMatchObject({
      action: 'write-status',
      status: { containerStatuses: [{ image: 'nginx:1.28', restartCount: 1, ready: true }] },
    });
  });
});

describe('a pod that fails', () => {
  it('is pending with a malformed image, and the node does not try again', () => {
    const { written, pod } = play(
      startingPod({}, { containers: [{ name: 'main', image: 'NGINX:::' }] }),
      3_600_000,
    );
    expect(written).toHaveLength(1);
    expect(pod.status?.phase).toBe('Pending');
    expect(waitingReason(written[0]!.status)).toBe('InvalidImageName');
  });

  it.each([
    behaving('image-pull-error'),
    startingPod({}, { containers: [{ name: 'main', image: 'nginx:broken' }] }),
  ])('backs off from an image that cannot be pulled, for 10, 20, 40 … seconds', (pod) => {
    const { written } = play(pod, 75_000);
    expect(written.map(({ atMs, status }) => [atMs / 1000, waitingReason(status), status.phase])).toEqual([
      [0, 'ErrImagePull', 'Pending'],
      [2, 'ImagePullBackOff', 'Pending'],
      [10, 'ErrImagePull', 'Pending'],
      [12, 'ImagePullBackOff', 'Pending'],
      [30, 'ErrImagePull', 'Pending'],
      [32, 'ImagePullBackOff', 'Pending'],
      [70, 'ErrImagePull', 'Pending'],
      [72, 'ImagePullBackOff', 'Pending'],
    ]);
    expect(written.every(({ status }) => condition(status, 'Ready')?.status === 'False')).toBe(true);
  });

  it('crashes, is started again at once, then backs off longer each time, and is never ready', () => {
    const { written } = play(behaving('crash-loop'), 35_000);
    const story = written.map(({ atMs, status }) => [
      atMs / 1000,
      stateWord(status),
      status.containerStatuses?.[0]?.restartCount,
    ]);
    expect(story).toEqual([
      [0, 'running', 0],
      [1, 'Error', 0],
      [2, 'running', 1],
      [3, 'CrashLoopBackOff', 1],
      [13, 'running', 2],
      [14, 'CrashLoopBackOff', 2],
      [34, 'running', 3],
      [35, 'CrashLoopBackOff', 3],
    ]);
    expect(written.every(({ status }) => status.phase === 'Running')).toBe(true);
    expect(written.every(({ status }) => condition(status, 'Ready')?.status === 'False')).toBe(true);
  });

  it('runs and never gets ready', () => {
    const { written, pod } = play(behaving('never-ready'), 3_600_000);
    expect(written).toHaveLength(1);
    expect(pod.status?.phase).toBe('Running');
    expect(condition(pod.status, 'Ready')?.status).toBe('False');
  });

  it('is rejected by the node once and for all', () => {
    const { written, pod } = play(behaving('reject'), 3_600_000);
    expect(written).toHaveLength(1);
    expect(pod.status).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu' });
  });

  it('recovers when its image is mended', () => {
    const { pod } = play(startingPod({}, { containers: [{ name: 'main', image: 'nginx:broken' }] }), 5_000);
    pod.spec.containers = [{ name: 'main', image: 'nginx:1.27' }];
    const { pod: mended } = play(pod, 6_000);
    expect(mended.status?.phase).toBe('Running');
    expect(condition(mended.status, 'Ready')?.status).toBe('True');
  });
});

describe('a pod that is not restarted always', () => {
  const once = (restartPolicy: 'Never' | 'OnFailure', annotations: Record<string, string> = {}) =>
    startingPod({ annotations }, { restartPolicy, containers: [{ name: 'main', image: 'busybox' }] });
  const stateOf = (pod: Pod) => pod.status?.containerStatuses?.[0];

  it('runs, ends well after a second, and stays so', () => {
    const { pod, written } = play(once('Never'), 90_000);
    expect(written.map(({ atMs, status }) => [atMs, status.phase])).toEqual([
      [0, 'Running'],
      [1_000, 'Succeeded'],
    ]);
    expect(pod.status?.phase).toBe('Succeeded');
    expect(stateOf(pod)?.state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(condition(pod.status, 'Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' });
    expect(decide(pod, 90_000)).toEqual({ action: 'rest' });
  });

  it.each<{ annotations: Record<string, string>; exitCode: number }>([
    { annotations: { [EXIT_CODE_ANNOTATION]: '3' }, exitCode: 3 },
    { annotations: { [EXIT_CODE_ANNOTATION]: '3', [`${EXIT_CODE_ANNOTATION}.main`]: '4' }, exitCode: 4 },
    { annotations: { [BEHAVIOUR_ANNOTATION]: 'crash-loop' }, exitCode: 1 },
  ])('fails with the code that $annotations asks for', ({ annotations, exitCode }) => {
    const { pod } = play(once('Never', annotations), 90_000);
    expect(pod.status?.phase).toBe('Failed');
    expect(stateOf(pod)?.state?.terminated).toMatchObject({ exitCode, reason: 'Error' });
    expect(stateOf(pod)?.restartCount).toBe(0);
  });

  it('is started again where it should be after a failure', () => {
    const failing = play(once('OnFailure', { [EXIT_CODE_ANNOTATION]: '3' }), 1_000).pod;
    expect(failing.status?.phase).toBe('Running');
    expect(stateOf(failing)).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 3 } },
    });
    expect(condition(failing.status, 'Ready')?.status).toBe('False');
    expect(stateOf(play(failing, 2_000).pod)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 3 } },
    });
  });

  it('runs as long as it is asked to, for ever too', () => {
    const endOf = (endsAfter: string) =>
      play(once('Never', { [ENDS_AFTER_ANNOTATION]: endsAfter }), 3_600_000).written.at(-1);
    expect(endOf('1m')).toMatchObject({ atMs: 60_000, status: { phase: 'Succeeded' } });
    expect(endOf('never')).toMatchObject({ atMs: 0, status: { phase: 'Running' } });
  });

  it('has failed when it is deleted before its end', () => {
    const { pod } = play(startingPod({ finalizers: ['example.com/hold'] }, { restartPolicy: 'Never' }), 0);
    pod.metadata.deletionTimestamp = new Date(START + 30_000).toISOString();
    const { pod: left } = play(pod, 500);
    expect(left.status?.phase).toBe('Failed');
    expect(stateOf(left)?.state?.terminated?.exitCode).toBe(143);
  });
});

describe('a pod with a deadline', () => {
  it('has failed when it has run that long, however it went', () => {
    const { pod, written } = play(startingPod({}, { activeDeadlineSeconds: 30 }), 3_600_000);
    expect(written.map(({ atMs, status }) => [atMs, status.phase])).toEqual([
      [0, 'Running'],
      [30_000, 'Failed'],
    ]);
    expect(pod.status).toMatchObject({
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
      containerStatuses: [{ ready: false, state: { terminated: { exitCode: 137, reason: 'Error' } } }],
    });
    expect(condition(pod.status, 'Ready')).toMatchObject({ status: 'False', reason: 'PodFailed' });
    expect(decide(pod, 3_600_000)).toEqual({ action: 'rest' });
  });

  it('does not wait for an image any longer', () => {
    const spec = { activeDeadlineSeconds: 5, containers: [{ name: 'main', image: 'nginx:broken' }] };
    const { pod } = play(startingPod({}, spec), 3_600_000);
    expect(pod.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.reason).toBe('ContainerStatusUnknown');
  });

  it('keeps the end that it came to before', () => {
    const { pod } = play(startingPod({}, { activeDeadlineSeconds: 30, restartPolicy: 'Never' }), 3_600_000);
    expect(pod.status?.phase).toBe('Succeeded');
    expect(pod.status?.reason).toBeUndefined();
  });
});

describe('the status of a pod', () => {
  it('names the generation of the spec that it is about', () => {
    const { pod } = play(startingPod({ generation: 3 }), 1_000);
    expect(pod.status).toMatchObject({ observedGeneration: 3 });
    expect(condition(pod.status, 'Ready')).toMatchObject({ observedGeneration: 3 });
  });
});

describe('a pod that is deleted', () => {
  const leaving = {
    deletionTimestamp: new Date(START + 30_000).toISOString(),
    deletionGracePeriodSeconds: 30,
  };

  it('goes at once where containers stop at once', () => {
    expect(decide(startingPod(leaving)).action).toBe('delete');
  });

  it('goes when its containers have stopped', () => {
    expect(decide(startingPod(leaving), 0, { terminationDelayMs: 5_000 })).toEqual({
      action: 'rest',
      wakeAtMs: START + 5_000,
    });
    expect(decide(startingPod(leaving), 5_000, { terminationDelayMs: 5_000 }).action).toBe('delete');
  });

  it('goes at the end of its grace period at the latest', () => {
    expect(decide(startingPod(leaving), 30_000, { terminationDelayMs: 90_000 }).action).toBe('delete');
  });

  it('is left to the server once its grace period is over', () => {
    expect(decide(startingPod({ ...leaving, deletionGracePeriodSeconds: 0 })).action).toBe('rest');
  });

  it('says that it has ended before it goes, where a finalizer will keep it', () => {
    const { pod } = play(startingPod({ finalizers: ['example.com/hold'] }), 1_000);
    Object.assign(pod.metadata, leaving);
    const plan = decide(pod, 2_000);
    expect(plan).toMatchObject({ action: 'write-status', status: { phase: 'Succeeded' } });
    if (plan.action !== 'write-status') return;
    expect(decide({ ...pod, status: plan.status }, 2_000).action).toBe('delete');
  });

  it('goes even if it was rejected', () => {
    const { pod } = play(behaving('reject'), 1_000);
    Object.assign(pod.metadata, leaving);
    expect(decide(pod, 2_000).action).toBe('delete');
  });
});

describe('every decision', () => {
  it('is at rest after its own write, and never asks to be woken in the past', () => {
    const pods = fc.record({
      behaviour: fc.constantFrom(undefined, ...POD_BEHAVIOURS),
      restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
      exitCode: fc.constantFrom('0', '1'),
      init: fc.constantFrom([], ['busybox'], ['crash'], ['busybox', 'missing'], ['crash', 'busybox']),
      initPolicy: fc.constantFrom(undefined, 'Always'),
      activeDeadlineSeconds: fc.constantFrom(undefined, 1, 90),
      probe: fc.constantFrom('readinessProbe', 'livenessProbe', 'startupProbe', 'none'),
      image: fc.constantFrom('nginx', 'nginx:broken', 'crash:1', 'BAD::', 'nginx:2'),
      readyDelayMs: fc.constantFrom(0, 40, 2_500),
      found: fc.constantFrom(undefined, 'succeeds', 'fails after 15s', 'succeeds after 9s', 'flaps 20s 30s'),
      pull: fc.constantFrom(undefined, ['3s', '0'], ['200ms', '2'], ['0s', 'always']),
      endsAfter: fc.constantFrom(undefined, '4s', '11m', 'never'),
      times: fc.array(fc.nat(400_000), { maxLength: 12 }),
    });
    fc.assert(
      fc.property(pods, ({ behaviour, exitCode, image, readyDelayMs, restartPolicy, times, ...more }) => {
        const { endsAfter, found, pull } = more;
        const annotations: Record<string, string> = {
          [EXIT_CODE_ANNOTATION]: exitCode,
          ...(endsAfter && { [ENDS_AFTER_ANNOTATION]: endsAfter }),
          ...(pull && { [IMAGE_PULL_AFTER_ANNOTATION]: pull[0] }),
          ...(pull && { [IMAGE_PULL_FAILURES_ANNOTATION]: pull[1] }),
          ...(found && Object.fromEntries(Object.values(PROBE_ANNOTATIONS).map((name) => [name, found]))),
          ...(behaviour && { [BEHAVIOUR_ANNOTATION]: behaviour }),
        };
        // The node's memory of exact times: the API only keeps whole seconds.
        const memory = newPodMemory();
        const { activeDeadlineSeconds, init, initPolicy, probe } = more;
        let pod = startingPod(
          { annotations },
          {
            restartPolicy,
            ...(activeDeadlineSeconds && { activeDeadlineSeconds }),
            initContainers: init.map((each, index) => ({
              name: `init-${index}`,
              image: each,
              ...(initPolicy && { restartPolicy: initPolicy }),
            })),
            containers: [{ name: 'main', image, [probe]: { exec: { command: ['false'] } } }],
          },
        );
        for (const atMs of times.toSorted((a, b) => a - b)) {
          const plan = decide(pod, atMs, { readyDelayMs, ...memory });
          if (plan.action === 'write-status') {
            noteStatus(memory, pod.status, plan, START + atMs);
            pod = { ...pod, status: JSON.parse(JSON.stringify(plan.status)) };
          }
          const again = decide(pod, atMs, { readyDelayMs, ...memory });
          expect(again.action).toBe('rest');
          if (again.action === 'rest' && again.wakeAtMs !== undefined) {
            expect(again.wakeAtMs).toBeGreaterThan(START + atMs);
          }
        }
      }),
    );
  });

  it('leaves the pod it is made from as it was', () => {
    const { pod } = play(behaving('crash-loop'), 5_000);
    const before = JSON.stringify(pod);
    decide(pod, 20_000);
    expect(JSON.stringify(pod)).toBe(before);
  });
});
