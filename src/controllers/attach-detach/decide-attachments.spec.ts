import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../runtime/index.js';
import type { CSIDriver, VolumeAttachment } from '../../machinery/kubernetes/index.js';
import { decideAttachments, isToBeAttached } from './decide-attachments.js';
import { podOf } from '../../testing/pod-builder.js';

const DRIVER = 'simulator.rollkeeper.dev';
const aVolume = (
  accessModes = ['ReadWriteOnce'],
  csi: object | undefined = { driver: DRIVER, volumeHandle: 'h1' },
) =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv-1' },
    spec: { accessModes, claimRef: { namespace: 'a', name: 'data', uid: 'c1' }, ...(csi && { csi }) },
  }) as PersistentVolume;
const CLAIM: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a', uid: 'c1' },
  spec: { volumeName: 'pv-1' },
};
const mountingPod = (phase = 'Running', nodeName = 'node-0'): Pod =>
  podOf({
    metadata: { namespace: 'a' },
    spec: { nodeName, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
    status: { phase: phase as 'Running' },
  });
const nameOn = (nodeName: string): string =>
  `csi-${createHash('sha256').update(`h1${DRIVER}${nodeName}`).digest('hex')}`;
const attached = (nodeName: string, isAttached = true, name = nameOn(nodeName)): VolumeAttachment => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name },
  spec: { attacher: DRIVER, nodeName, source: { persistentVolumeName: 'pv-1' } },
  status: { attached: isAttached },
});

interface World {
  readonly pods?: readonly Pod[];
  readonly volume?: PersistentVolume;
  readonly attachments?: readonly VolumeAttachment[];
  readonly driver?: CSIDriver;
}
const decide = ({ attachments = [], driver, pods = [mountingPod()], volume = aVolume() }: World = {}) =>
  decideAttachments({
    node: 'node-0',
    pods,
    claimOf: (key) => (key === 'a/data' ? CLAIM : undefined),
    volumeOf: (name) => (name === 'pv-1' ? volume : undefined),
    driverOf: () => driver,
    attachments,
  });

describe('the volumes of a node', () => {
  it('are attached for its pods, under a name that every try gives them', () => {
    const plan = decide();
    expect(plan.attach).toMatchObject([
      {
        volume: 'pv-1',
        attachment: {
          metadata: { name: expect.stringMatching(/^csi-[0-9a-f]{64}$/) as string },
          spec: { attacher: DRIVER, nodeName: 'node-0', source: { persistentVolumeName: 'pv-1' } },
        },
      },
    ]);
    expect(decide()).toEqual(plan);
    expect(isToBeAttached(plan.attach[0]!.attachment)).toBe(true);
  });

  it('are said by the node when they are attached', () => {
    expect(decide({ attachments: [attached('node-0')] })).toEqual({
      attach: [],
      detach: [],
      refused: [],
      attached: [{ name: `kubernetes.io/csi/${DRIVER}^h1`, devicePath: '' }],
    });
    expect(decide({ attachments: [attached('node-0', false)] }).attached).toEqual([]);
  });

  it.each<[string, World]>([
    ['there is no pod', { pods: [] }],
    ['its pod has ended', { pods: [mountingPod('Succeeded')] }],
    ['it is none of a CSI driver', { volume: { ...aVolume(), spec: { ...aVolume().spec, csi: undefined } } }],
    [
      'its driver attaches nothing',
      {
        driver: {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'CSIDriver',
          metadata: { name: DRIVER },
          spec: { attachRequired: false },
        },
      },
    ],
  ])('are not attached, and detached, where %s', (_why, world) => {
    expect(decide(world).attach).toEqual([]);
    const plan = decide({ ...world, attachments: [attached('node-0'), attached('node-1')] });
    expect(plan.detach.map(({ metadata }) => metadata.name)).toEqual([nameOn('node-0')]);
    expect(plan.attached).toEqual([]);
  });

  it('are left as they are where others have attached them, under names of their own', () => {
    const foreign = ['e2e-va-1', `csi-${'0'.repeat(64)}`, 'csi-node-0'].map((name) =>
      attached('node-0', true, name),
    );
    expect(decide({ pods: [], attachments: foreign })).toEqual({
      attach: [],
      detach: [],
      refused: [],
      attached: [],
    });
    const elsewhere = attached('node-1', true, 'e2e-va-2');
    const plan = decide({ attachments: [...foreign, elsewhere] });
    expect([plan.attach.length, plan.refused]).toEqual([1, []]);
  });

  it('are detached where our attachment has outlived its volume', () => {
    const plan = decideAttachments({
      ...{ node: 'node-0', pods: [], claimOf: () => undefined, volumeOf: () => undefined },
      ...{ driverOf: () => undefined, attachments: [attached('node-0'), attached('node-0', true, 'mine')] },
    });
    expect(plan.detach.map(({ metadata }) => metadata.name)).toEqual([nameOn('node-0')]);
  });

  it('are refused where another node has one that only one may have', () => {
    const elsewhere = [attached('node-1')];
    expect(decide({ attachments: elsewhere })).toMatchObject({
      attach: [],
      refused: [
        {
          message:
            'Multi-Attach error for volume "pv-1" Volume is already exclusively attached to one node and can\'t be attached to another',
        },
      ],
    });
    const shared = aVolume(['ReadWriteOnce', 'ReadWriteMany']);
    expect(decide({ attachments: elsewhere, volume: shared }).attach).toHaveLength(1);
  });
});
