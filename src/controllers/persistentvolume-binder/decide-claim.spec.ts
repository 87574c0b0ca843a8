import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../runtime/index.js';
import type { ClaimDecision } from './decide-claim.js';
import { decideClaim } from './decide-claim.js';

type Metadata = Partial<PersistentVolumeClaim['metadata']>;

const BOUND: Metadata = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };
const SELECTED: Metadata = { annotations: { 'volume.kubernetes.io/selected-node': 'node-1' } };

const aClaim = (
  spec: Partial<PersistentVolumeClaim['spec']> = {},
  metadata: Metadata = {},
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a', uid: 'claim-1', ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});

const aVolume = (spec: Partial<PersistentVolume['spec']> = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v' },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec },
  status: { phase: 'Available' },
});

const aClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'example.com/disks',
  ...more,
});

const LATE = { volumeBindingMode: 'WaitForFirstConsumer' } as const;
const IS_DEFAULT = { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } };

interface Known {
  readonly volumes?: PersistentVolume[];
  readonly classes?: StorageClass[];
}

const decide = (claim: PersistentVolumeClaim, { classes = [], volumes = [] }: Known = {}): ClaimDecision =>
  decideClaim({ claim, volumes, classes });
const noteOf = (decision: ClaimDecision): string =>
  'note' in decision && decision.note ? `${decision.note.type} ${decision.note.reason}` : decision.action;

describe('a claim that is not bound', () => {
  it('is bound to a volume that fits', () => {
    const volume = aVolume({ storageClassName: 'slow' });
    expect(decide(aClaim({ storageClassName: 'slow' }), { volumes: [volume] })).toEqual({
      action: 'bind',
      volume,
    });
  });

  it.each<[string, PersistentVolumeClaim, Known]>([
    ['Normal FailedBinding', aClaim({ storageClassName: '' }), {}],
    ['Normal FailedBinding', aClaim(), {}],
    ['Warning ProvisioningFailed', aClaim({ storageClassName: 'gone' }), {}],
    [
      'Warning ProvisioningFailed',
      aClaim({ storageClassName: 'by-hand' }),
      { classes: [aClass('by-hand', { provisioner: 'kubernetes.io/no-provisioner' })] },
    ],
    [
      'Normal WaitForFirstConsumer',
      aClaim({ storageClassName: 'late' }),
      { classes: [aClass('late', LATE)], volumes: [aVolume({ storageClassName: 'late' })] },
    ],
  ])('waits, and says why: %s', (expected, claim, known) => {
    const decision = decide(claim, known);
    expect([decision.action, noteOf(decision)]).toEqual(['wait', expected]);
  });

  it('is made a volume for by the provisioner of its class, where one waits for a node when it has one', () => {
    const asked = { action: 'provision', provisioner: 'example.com/disks' };
    const classes = [aClass('fast'), aClass('late', LATE)];
    expect(decide(aClaim({ storageClassName: 'fast' }), { classes })).toEqual(asked);
    expect(decide(aClaim({ storageClassName: 'late' }, SELECTED), { classes })).toEqual(asked);
  });

  it('gets the default class that came after it', () => {
    const classes = [aClass('other'), aClass('standard', { metadata: { name: 'standard', ...IS_DEFAULT } })];
    expect(decide(aClaim(), { classes })).toEqual({ action: 'set-class', className: 'standard' });
    expect(noteOf(decide(aClaim({ storageClassName: '' }), { classes }))).toBe('Normal FailedBinding');
  });

  it('is left alone when it is being deleted', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(decide(aClaim({}, metadata), { volumes: [aVolume()] })).toEqual({ action: 'nothing' });
  });
});

describe('a claim that names its volume', () => {
  it.each<[string, Known]>([
    ['wait', {}],
    ['bind', { volumes: [aVolume()] }],
    ['bind', { volumes: [aVolume({ claimRef: { name: 'data', namespace: 'a' } })] }],
    ['Warning VolumeMismatch', { volumes: [aVolume({ capacity: { storage: '1Mi' } })] }],
    ['Warning FailedBinding', { volumes: [aVolume({ claimRef: { name: 'other', namespace: 'a' } })] }],
  ])('has nothing to do with any other: %s', (expected, known) => {
    expect(noteOf(decide(aClaim({ volumeName: 'v' }), known))).toBe(expected);
  });
});

describe('a claim that was bound', () => {
  const bound = aClaim({ volumeName: 'v' }, BOUND);
  const givenTo = (uid: string) => aVolume({ claimRef: { name: 'data', namespace: 'a', uid } });

  it.each<[string, PersistentVolumeClaim, Known]>([
    ['bind', bound, { volumes: [givenTo('claim-1')] }],
    ['bind', bound, { volumes: [aVolume()] }],
    ['Warning ClaimLost', bound, {}],
    ['Warning ClaimLost', aClaim({}, BOUND), { volumes: [givenTo('claim-1')] }],
    ['Warning ClaimMisbound', bound, { volumes: [givenTo('claim-2')] }],
  ])('stays so, or has lost its volume for good: %s', (expected, claim, known) => {
    expect(noteOf(decide(claim, known))).toBe(expected);
  });
});
