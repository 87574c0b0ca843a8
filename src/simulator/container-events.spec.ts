import { describe, expect, it } from 'vitest';
import type { PodStatus } from '../machinery/kubernetes/index.js';
import { decideContainerEvents } from './container-events.js';
import { podOf } from '../testing/pod-builder.js';

const status = (reason?: string, message = 'why'): PodStatus => ({
  containerStatuses: [
    {
      name: 'main',
      image: 'nginx:broken',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: reason === undefined ? {} : { waiting: { reason, message } },
    },
  ],
});
const texts = (before: PodStatus, next: PodStatus): string[] =>
  decideContainerEvents(podOf({ metadata: { name: 'pod', uid: 'uid' }, status: before }), next).map(
    ({ type, reason, message }) => `${type} ${reason} ${message}`,
  );

describe('decideContainerEvents', () => {
  it('tells of a failed pull, and then of the back-off', () => {
    expect(texts({}, status('ErrImagePull'))).toEqual([
      'Warning Failed Failed to pull image "nginx:broken": why',
      'Warning Failed Error: ErrImagePull',
    ]);
    expect(texts(status('ErrImagePull'), status('ImagePullBackOff', 'why: ErrImagePull: not found'))).toEqual(
      ['Normal BackOff why', 'Warning Failed Error: ImagePullBackOff'],
    );
    expect(texts(status('ImagePullBackOff'), status('ErrImagePull'))[0]).toBe(
      'Normal Pulling Pulling image "nginx:broken"',
    );
  });

  it('tells of a malformed image and of a crash', () => {
    expect(texts({}, status('InvalidImageName'))).toEqual(['Warning InspectFailed why']);
    expect(texts(status(), status('CrashLoopBackOff'))).toEqual([
      'Warning BackOff Back-off restarting failed container main in pod pod_default(uid)',
    ]);
  });

  it('tells of a rejection', () => {
    const rejected: PodStatus = { phase: 'Failed', reason: 'OutOfcpu', message: 'no room' };
    expect(texts({}, rejected)).toEqual(['Warning OutOfcpu no room']);
  });

  it('says nothing of what goes on as before, or well', () => {
    expect(texts(status('ErrImagePull'), status('ErrImagePull'))).toEqual([]);
    expect(texts({}, status())).toEqual([]);
  });
});
