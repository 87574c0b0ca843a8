import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../machinery/kubernetes/index.js';
import { admittedPod, creationOf, dependenciesOn, followedOf, refusalOf } from '../admission.fixture.js';
import { addDefaultTolerations } from './default-tolerations.js';
import { admitPodPriority, checkDefaultClass } from './priority.js';
import type { PriorityClass } from './priority.js';
import { admitServiceAccount } from './service-account.js';
import { admitRuntimeClass } from './runtime-class.js';
import type { RuntimeClass } from './runtime-class.js';
import type { ServiceAccount } from './service-account.js';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

function anAccount(name: string, fields: Partial<ServiceAccount> = {}): ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    ...fields,
    metadata: { name, namespace: 'a', ...fields.metadata },
  };
}

async function admitted(pod: Pod, ...accounts: ServiceAccount[]): Promise<Pod> {
  const { followed, storage } = await followedOf('serviceaccounts', ...accounts);
  await admitServiceAccount(creationOf(pod), followed, {
    ...dependenciesOn(storage),
    unknownAccounts: 'refuse',
  });
  return pod;
}

describe('ServiceAccount', () => {
  it('gives a pod the default account and its token, in every container', async () => {
    const pod = await admitted(
      admittedPod({ initContainers: [{ name: 'i', image: 'i' }], volumes: [{ name: 'own', emptyDir: {} }] }),
      anAccount('default'),
    );
    expect(pod.spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
    const [own, token] = pod.spec.volumes ?? [];
    expect(own?.name).toBe('own');
    expect(token?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(token?.projected?.sources?.map((source) => Object.keys(source)[0])).toEqual([
      'serviceAccountToken',
      'configMap',
      'downwardAPI',
    ]);
    for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])])
      expect(container.volumeMounts).toEqual([{ name: token?.name, readOnly: true, mountPath: MOUNT_PATH }]);
  });

  it('mounts nothing where the pod, or else its account, does not want it', async () => {
    const silent = anAccount('default', { automountServiceAccountToken: false });
    expect((await admitted(admittedPod(), silent)).spec.volumes).toBeUndefined();
    expect(
      (await admitted(admittedPod({ automountServiceAccountToken: true }), silent)).spec.volumes,
    ).toHaveLength(1);
    const refusing = admittedPod({ automountServiceAccountToken: false });
    expect((await admitted(refusing, anAccount('default'))).spec.volumes).toBeUndefined();
  });

  it('mounts nothing over what a container mounts in that place itself', async () => {
    const container = { name: 'c', image: 'i', volumeMounts: [{ name: 'own', mountPath: MOUNT_PATH }] };
    const pod = await admitted(admittedPod({ containers: [container] }), anAccount('default'));
    expect(pod.spec.volumes).toBeUndefined();
    expect(pod.spec.containers[0]?.volumeMounts).toHaveLength(1);
  });

  it("gives a pod without pull secrets its account's", async () => {
    const account = anAccount('default', { imagePullSecrets: [{ name: 'theirs' }] });
    expect((await admitted(admittedPod(), account)).spec.imagePullSecrets).toEqual([{ name: 'theirs' }]);
    const own = admittedPod({ imagePullSecrets: [{ name: 'own' }] });
    expect((await admitted(own, account)).spec.imagePullSecrets).toEqual([{ name: 'own' }]);
  });

  it('refuses an account that does not exist', async () => {
    expect(
      await refusalOf(() => admitted(admittedPod({ serviceAccountName: 'robot' }), anAccount('default'))),
    ).toBe(
      'pods "p" is forbidden: error looking up service account a/robot: serviceaccount "robot" not found',
    );
  });

  it('lets a pod in without a token, and warns, where unknown accounts are not refused', async () => {
    const { followed, storage } = await followedOf('serviceaccounts', anAccount('default'));
    const pod = admittedPod({ serviceAccountName: 'robot' });
    const creation = creationOf(pod);
    const warnings: string[] = [];
    await admitServiceAccount(
      { ...creation, caller: { ...creation.caller, warn: (text) => void warnings.push(text) } },
      followed,
      { ...dependenciesOn(storage), unknownAccounts: 'warn' },
    );
    expect(warnings).toEqual(['service account a/robot does not exist: the pod gets no token']);
    expect(pod.spec).toMatchObject({ serviceAccountName: 'robot', serviceAccount: 'robot' });
    expect(pod.spec.volumes).toBeUndefined();
  });

  it('waits a moment for the default account of a new namespace', async () => {
    const { followed, storage } = await followedOf<ServiceAccount>('serviceaccounts');
    const dependencies = dependenciesOn(storage);
    const pod = admittedPod();
    const admission = admitServiceAccount(creationOf(pod), followed, {
      ...dependencies,
      unknownAccounts: 'warn',
    });
    await dependencies.clock.advance(150);
    await storage.create(
      { resource: 'serviceaccounts', namespace: 'a', name: 'default' },
      anAccount('default'),
    );
    await dependencies.clock.advance(100);
    await admission;
    expect(pod.spec.serviceAccountName).toBe('default');
  });

  it('holds a pod to the secrets of an account that enforces them', async () => {
    const account = anAccount('default', {
      metadata: { name: 'default', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'allowed' }],
    });
    const pod = (secretName: string) => admittedPod({ volumes: [{ name: 'v', secret: { secretName } }] });
    expect(await refusalOf(() => admitted(pod('other'), account))).toBe(
      'pods "p" is forbidden: volume with secret.secretName="other" is not allowed because service account default does not reference that secret',
    );
    expect(await refusalOf(() => admitted(pod('allowed'), account))).toBeUndefined();
  });

  it('leaves mirror pods as they are, which may not act as anybody', async () => {
    const mirror = admittedPod();
    mirror.metadata.annotations = { 'kubernetes.io/config.mirror': 'x' };
    expect((await admitted(mirror)).spec.serviceAccountName).toBeUndefined();
    mirror.spec.serviceAccountName = 'default';
    expect(await refusalOf(() => admitted(mirror))).toMatch(
      /a mirror pod may not reference service accounts$/,
    );
  });
});

function aClass(name: string, value: number, more: Partial<PriorityClass> = {}): PriorityClass {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, ...more };
}

function classesOf(...classes: PriorityClass[]) {
  return {
    get: (name: string) => classes.find(({ metadata }) => metadata.name === name),
    list: () => classes,
  };
}

describe('Priority', () => {
  it('gives a pod the priority of its class', () => {
    const pod = admittedPod({ priorityClassName: 'high' });
    admitPodPriority(creationOf(pod), classesOf(aClass('high', 1000, { preemptionPolicy: 'Never' })));
    expect(pod.spec).toMatchObject({ priority: 1000, preemptionPolicy: 'Never' });
  });

  it('gives a pod without a class the default class, or 0', () => {
    const [pod, other] = [admittedPod(), admittedPod()];
    admitPodPriority(
      creationOf(pod),
      classesOf(aClass('low', 1), aClass('usual', 5, { globalDefault: true })),
    );
    expect(pod.spec).toMatchObject({ priorityClassName: 'usual', priority: 5 });
    admitPodPriority(creationOf(other), classesOf(aClass('low', 1)));
    expect(other.spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
    expect(other.spec.priorityClassName).toBeUndefined();
  });

  it.each([
    [{ priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
    [
      { priorityClassName: 'high', priority: 7 },
      'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
    ],
    [
      { priorityClassName: 'high', preemptionPolicy: 'Never' as const },
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ])('refuses %j', async (spec, problem) => {
    const work = () => admitPodPriority(creationOf(admittedPod(spec)), classesOf(aClass('high', 1000)));
    expect(await refusalOf(work)).toBe(`pods "p" is forbidden: ${problem}`);
  });

  it('keeps the priority of a pod in updates that say nothing of it', () => {
    const pod = admittedPod();
    const oldObject = admittedPod({ priority: 5, preemptionPolicy: 'Never' }) as never;
    admitPodPriority({ ...creationOf(pod), operation: 'UPDATE', oldObject }, classesOf());
    expect(pod.spec).toMatchObject({ priority: 5, preemptionPolicy: 'Never' });
  });

  it('allows one default class', async () => {
    const attributes = (object: PriorityClass) => ({ ...creationOf(admittedPod()), object: object as never });
    const usual = aClass('usual', 1, { globalDefault: true });
    expect(await refusalOf(() => checkDefaultClass(attributes(usual), [usual]))).toBeUndefined();
    const second = aClass('second', 1, { globalDefault: true });
    expect(await refusalOf(() => checkDefaultClass(attributes(second), [usual]))).toMatch(
      /PriorityClass usual is already marked as default. Only one default can exist$/,
    );
  });
});

describe('DefaultTolerationSeconds', () => {
  const added = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  const [NOT_READY, UNREACHABLE] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

  it('lets a pod tolerate a silent node for five minutes', () => {
    const pod = admittedPod();
    addDefaultTolerations(pod);
    expect(pod.spec.tolerations).toEqual([added(NOT_READY), added(UNREACHABLE)]);
  });

  it('adds nothing to what a pod says itself', () => {
    const own = {
      key: NOT_READY,
      operator: 'Exists' as const,
      effect: 'NoExecute' as const,
      tolerationSeconds: 1,
    };
    const pod = admittedPod({ tolerations: [own] });
    addDefaultTolerations(pod);
    expect(pod.spec.tolerations).toEqual([own, added(UNREACHABLE)]);
    const tolerant = admittedPod({ tolerations: [{ operator: 'Exists' }] });
    addDefaultTolerations(tolerant);
    expect(tolerant.spec.tolerations).toHaveLength(1);
  });
});

describe('RuntimeClass', () => {
  const own = [
    { key: 'a', operator: 'Exists' as const },
    { key: 'b', operator: 'Equal' as const, value: '1', effect: 'NoSchedule' as const },
  ];
  it.each([
    ['after its own', [{ key: 'c' }], [...own, { key: 'c' }]],
    ['but for those that its own include', [{ key: 'a', value: 'x' }], own],
    [
      'one of equal ones',
      [
        { key: 'c', operator: 'Exists' },
        { key: 'c', operator: 'Exists' },
      ],
      [...own, { key: 'c', operator: 'Exists' }],
    ],
    ['as one that tolerates everything', [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
    [
      'instead of those that they include',
      [{ key: 'b', operator: 'Exists' }],
      [own[0], { key: 'b', operator: 'Exists' }],
    ],
  ])('gives a pod its tolerations %s', async (_name, tolerations, expected) => {
    const pod = admittedPod({ runtimeClassName: 'r', tolerations: own });
    const runtimeClass = {
      ...{ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'r' }, handler: 'h' },
      scheduling: { tolerations },
    } as RuntimeClass;
    const { followed } = await followedOf('runtimeclasses.node.k8s.io', runtimeClass as never);
    await admitRuntimeClass(creationOf(pod), followed);
    expect(pod.spec.tolerations).toEqual(expected);
  });
});
