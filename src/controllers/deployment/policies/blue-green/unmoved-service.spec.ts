import { describe, expect, it } from 'vitest';
import { aDeployment } from '../../../../testing/deployment-builder.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { Deployment, ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { Service } from '../../../../runtime/index.js';
import {
  BLUE_GREEN,
  HASH,
  SECOND_MS,
  WATCHING,
  WHOLE,
  putService,
  running,
  seedPod,
  served,
  serviceOf,
} from './blue-green-lab.fixture.js';

describe('a blue-green rollout that cannot move its Service', () => {
  const beginning = async (change: (lab: PolicyLab) => unknown): Promise<PolicyLab> => {
    const lab = await running();
    await change(lab);
    await lab.image('app:2');
    return lab;
  };

  const remove = (lab: PolicyLab, name: string) =>
    lab.world.api.delete(Service, { namespace: 'default', name });

  const CASES: readonly { name: string; change: (lab: PolicyLab) => unknown; says: string }[] = [
    {
      name: 'is missing',
      change: (lab: PolicyLab) => remove(lab, 'web'),
      says: 'Service "web" does not exist',
    },
    {
      name: 'selects other pods',
      change: (lab: PolicyLab) => putService(lab, 'preview', { app: 'api' }),
      says: 'Service "preview" selects other pods: app=api is not among the labels of the pod template',
    },
    {
      name: 'selects nothing',
      change: (lab: PolicyLab) => putService(lab, 'web', {}),
      says: 'Service "web" has no selector',
    },
    {
      name: 'is moved by another Deployment',
      change: (lab: PolicyLab) => {
        const other = aDeployment({ ...WHOLE, annotations: lab.deployment.metadata.annotations });
        const metadata = { ...other.metadata, name: 'zoo', uid: 'uid-of-other' };
        lab.world.api.seed(Deployment, { ...other, metadata });
        const annotations = { [`${P}managed-by`]: 'zoo' };
        putService(lab, 'web', { app: 'web' }, annotations);
      },
      says: 'Service "web" is moved by the rollouts of Deployment "zoo"',
    },
  ];

  it.each(CASES)('is held before it begins where one $name', async ({ change, says }) => {
    const lab = await beginning(change);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toBe(`Unknown RolloutHeld The rollout is held: ${says}`);
    expect(lab.condition('RolloutPolicy')).toBe(`False ServiceNotUsable ${says}`);
    expect(lab.eventsOf('ServiceNotUsable')).toEqual([`Warning ServiceNotUsable ${says}`]);
    await lab.pass(3600 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('is held where a ReplicaSet that was adopted has no hash to be selected by', async () => {
    const lab = await beginning((made) => {
      const set = made.replicaSet('app:1');
      const { [HASH]: _hash, ...labels } = set.metadata.labels ?? {};
      made.world.api.seed(ReplicaSet, { ...set, metadata: { ...set.metadata, labels } });
    });
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toMatch(/^Unknown RolloutHeld .*ReplicaSet "web-\w+" has no pod-template-hash/);
    expect(serviceOf(lab, 'web')?.spec.selector?.[HASH], 'it is not moved to nothing').toBeTruthy();
  });

  it('goes on when the Service is there again', async () => {
    const lab = await beginning((made) => remove(made, 'web'));
    putService(lab, 'web');
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:2']);
    expect(lab.condition('RolloutPolicy')).toBe('none');
  });

  it('keeps every version that has pods where the Service goes in the middle', async () => {
    const lab = await running({ 'auto-promote': 'true' });
    lab.world.breaks = () => true;
    await lab.image('app:2');
    await remove(lab, 'web');
    lab.world.breaks = () => false;
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(lab.condition()).toContain('RolloutHeld');
    putService(lab, 'web');
    await lab.rest();
    await lab.pass(30 * SECOND_MS);
    expect([served(lab), lab.sizes]).toEqual(['app:2', { 'app:2': 4 }]);
  });

  it('starts the first version all the same, and says what is missing', async () => {
    const lab = await PolicyLab.rolledOut(BLUE_GREEN, WHOLE, { controller: WATCHING });
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.condition('RolloutPolicy')).toContain(
      'Service "web" does not exist; Service "preview" does not',
    );
  });

  it('is held where Services are not watched', async () => {
    const lab = await PolicyLab.rolledOut(BLUE_GREEN, WHOLE);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toContain('Services are not watched: start the controller with --blue-green');
    expect(lab.condition('RolloutPolicy')).toContain('ServicesNotWatched');
  });

  const WRONG: readonly (Readonly<Record<string, string>> & { readonly says: string })[] = [
    { strategy: 'canary', says: '"canary" is not one of rolling, blue-green' },
    { 'preview-service': 'web', says: 'is the same Service as rollkeeper.dev/active-service' },
    { 'active-service': '', says: 'needs rollkeeper.dev/active-service' },
    { 'active-service': 'Web', says: '"Web" is not the name of a Service' },
    { 'auto-promote': 'yes', says: '"yes" is neither true nor false' },
    { 'scale-down-delay': 'soon', says: '"soon" is not a duration' },
    { steps: '1; approve', says: 'cannot be combined with rollkeeper.dev/strategy: blue-green' },
    { strategy: '', says: 'needs rollkeeper.dev/strategy: blue-green' },
  ];

  it.each<[string, (lab: PolicyLab) => void, string]>([
    [
      'another Deployment, also while it has no pods',
      (lab) => {
        const other = aDeployment({ replicas: 0 });
        lab.world.api.seed(Deployment, {
          ...other,
          metadata: { ...other.metadata, name: 'zz', uid: 'other', annotations: {} },
        });
      },
      'Deployment "zz"',
    ],
    ['a StatefulSet', (lab) => seedPod(lab, { kind: 'StatefulSet', name: 'db' }), 'StatefulSet "db"'],
    ['a pod by itself', (lab) => seedPod(lab), 'pod "alone"'],
  ])('moves no Service that selects pods of %s', async (_, seed, says) => {
    const lab = await PolicyLab.rolledOut({ ...BLUE_GREEN, 'auto-promote': 'true' }, WHOLE, {
      controller: WATCHING,
      prepare: (prepared) => {
        putService(prepared, 'web');
        putService(prepared, 'preview');
        seed(prepared);
      },
    });
    expect(served(lab)).toBe('all');
    expect(lab.condition('RolloutPolicy')).toContain(`Service "web" selects pods of ${says} as well`);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.world.requeueAfterMs, 'nothing reports that such pods go').toBe(30 * SECOND_MS);
  });

  it('keeps a Service that it moved before pods of others came', async () => {
    const lab = await running({ 'auto-promote': 'true' });
    seedPod(lab, { kind: 'StatefulSet', name: 'db' });
    await lab.image('app:2');
    expect(served(lab)).toBe('app:2');
  });

  it('leaves its Services selecting all pods when it is deleted, also if nothing ran then', async () => {
    const lab = await running();
    const { metadata } = lab.deployment;
    putService(lab, 'foreign', { app: 'x' }, { [`${P}managed-by`]: 'another' });
    await lab.world.api.delete(Deployment, metadata);
    await lab.world.sync(metadata);
    expect([served(lab), served(lab, 'preview')]).toEqual(['all', 'all']);
    expect(serviceOf(lab, 'web')?.metadata.annotations).toEqual({});
    expect(serviceOf(lab, 'foreign')?.metadata.annotations, 'of another Deployment').not.toEqual({});
    expect(lab.eventsOf('ServiceLetGo')).toHaveLength(2);
  });

  it.each(WRONG)('is held where $says', async ({ says, ...policies }) => {
    const lab = await running(policies);
    expect(lab.condition('RolloutPolicy')).toContain('False InvalidAnnotation');
    expect(lab.condition('RolloutPolicy')).toContain(says);
  });

  it('moves no Service and lets none go while an annotation cannot be understood, but for the way back', async () => {
    const lab = await running();
    await lab.image('app:2');
    for (const [name, value] of [
      ['bake-tme', '5m'],
      ['auto-promote', 'yes'],
    ] as const) {
      const before = lab.annotation(name);
      await lab.annotate(name, value);
      await lab.annotate('approve', 'alice');
      await lab.pass(60 * SECOND_MS);
      expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:2']);
      expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
      await lab.annotate('approve', undefined);
      await lab.annotate(name, before);
    }
    await lab.annotate('approve', 'alice');
    await lab.pass(60 * SECOND_MS);
    expect(served(lab)).toBe('app:2');
    await lab.annotate('bake-tme', '5m');
    await lab.image('app:1');
    await lab.pass(60 * SECOND_MS);
    expect(served(lab)).toBe('app:1');
  });

  it.each([{ maxSurge: '25%' }, { maxSurge: 4 }, { maxSurge: undefined }])(
    'is held with a maxSurge of $maxSurge: two whole versions would break the limit',
    async ({ maxSurge }) => {
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge } } as const;
      const lab = await running({}, { replicas: 4, strategy });
      expect(lab.condition('RolloutPolicy')).toContain(
        `needs spec.strategy.rollingUpdate.maxSurge of 100% or more, as a percentage, and it is ${maxSurge ?? '25%'}`,
      );
    },
  );
});
