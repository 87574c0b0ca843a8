import { describe, expect, it } from 'vitest';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { setImage } from '../../../../testing/deployment-builder.js';
import { PolicyLab } from '../../../../testing/policy-lab.js';
import type { KubernetesObject, Pod, PodSpec, ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import {
  Pod as PodKind,
  ReplicaSet as ReplicaSetKind,
  isTerminating,
} from '../../../../machinery/kubernetes/index.js';
import { ConfigMap, Secret } from '../../../../runtime/index.js';
import { refusal } from '../../../../testing/rollout-world.js';
import { createDeploymentController } from '../../definition.js';
import { DEBOUNCE_MS } from './config-restart.js';

const PINNING = createDeploymentController({ pinConfig: true });
const KINDS = { configmap: ConfigMap, secret: Secret } as const;
const PINNED = { config: 'pinned' };

interface Content extends KubernetesObject {
  readonly data?: Record<string, string>;
  readonly immutable?: boolean;
}

/** Pods that read `configmap/web` and `secret/key`, and `configmap/extra` where there is one. */
const POD: PodSpec = {
  containers: [
    {
      name: 'web',
      image: 'app:1',
      envFrom: [{ configMapRef: { name: 'web' } }, { configMapRef: { name: 'extra', optional: true } }],
      env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'key' } } }],
    },
  ],
  volumes: [
    { name: 'plain', configMap: { name: 'web' } },
    { name: 'secret', secret: { secretName: 'key' } },
    { name: 'both', projected: { sources: [{ configMap: { name: 'web' } }, { secret: { name: 'key' } }] } },
  ],
};

function podShape(spec: PodSpec = POD): DeploymentShape {
  const template = { metadata: { labels: { app: 'web' } }, spec: structuredClone(spec) };
  return { replicas: 3, spec: { template } as DeploymentShape['spec'] };
}

function put(lab: PolicyLab, source: string, data: Record<string, string>, more: object = {}): void {
  const [kind = '', name = ''] = source.split('/');
  const type = KINDS[kind as keyof typeof KINDS];
  const metadata = { namespace: 'default', name, uid: `uid-of-${source}` };
  lab.world.api.seed(type, {
    apiVersion: 'v1',
    kind: type.kind,
    metadata,
    data,
    ...more,
  } as KubernetesObject);
}

async function change(lab: PolicyLab, source: string, data: Record<string, string>): Promise<void> {
  put(lab, source, data);
  await lab.rest();
  await lab.pass(DEBOUNCE_MS);
}

async function pinned(
  policies: Record<string, string> = PINNED,
  shape: DeploymentShape = podShape(),
  sources: readonly string[] = ['configmap/web', 'secret/key'],
): Promise<PolicyLab> {
  return PolicyLab.rolledOut(policies, shape, {
    controller: PINNING,
    prepare: (lab) => {
      for (const source of sources) put(lab, source, { key: 'MQ==' });
    },
  });
}

function running(lab: PolicyLab): Pod[] {
  return lab.world.allPods.filter((pod) => !isTerminating(pod));
}

/** The content that each pod reads by its first `envFrom`. */
function read(lab: PolicyLab): unknown[] {
  return running(lab).map((pod) => {
    const name = pod.spec.containers[0]?.envFrom?.[0]?.configMapRef?.name;
    const found = lab.world.api.all<Content>(ConfigMap).find(({ metadata }) => metadata.name === name);
    return found?.data?.['key'];
  });
}

/** Names of the objects that a pod reads. */
function names({ spec }: Pod): unknown {
  const [container] = spec.containers;
  return [
    ...(container?.envFrom ?? []).map(({ configMapRef }) => configMapRef?.name),
    ...(container?.env ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...(spec.volumes ?? []).map(({ configMap, secret }) => configMap?.name ?? secret?.secretName),
    ...(spec.volumes?.[2]?.projected?.sources ?? []).map(
      ({ configMap, secret }) => configMap?.name ?? secret?.name,
    ),
  ];
}

function copies(lab: PolicyLab): Content[] {
  return [...lab.world.api.all<Content>(ConfigMap), ...lab.world.api.all<Content>(Secret)].filter(
    ({ metadata }) => metadata.annotations?.['rollkeeper.dev/copy-of'],
  );
}

/** The ReplicaSet says that it reads other copies. */
function forge(
  lab: PolicyLab,
  change: (copies: Record<string, { name: string; digest?: string }>) => object,
): void {
  const [set] = setsOf(lab);
  if (!set) throw new Error('there is no ReplicaSet');
  const note = set.metadata.annotations?.['rollkeeper.dev/config-copies'] ?? '{}';
  const forged = change(JSON.parse(note) as Record<string, { name: string; digest?: string }>);
  const annotations = {
    ...set.metadata.annotations,
    'rollkeeper.dev/config-copies': JSON.stringify(forged),
  };
  lab.world.api.seed(ReplicaSetKind, { ...set, metadata: { ...set.metadata, annotations } });
}

function setsOf(lab: PolicyLab): ReplicaSet[] {
  return lab.world.replicaSets.filter(({ spec }) => spec.replicas !== 0);
}

describe('config: pinned', () => {
  it('is copied to no name that a user writes into the note of a ReplicaSet', async () => {
    const lab = await pinned();
    forge(lab, (noted) => ({
      ...noted,
      'secret/key': { ...noted['secret/key'], name: 'trusted-by-others' },
    }));
    await lab.rest();
    await lab.pass(DEBOUNCE_MS);
    expect(lab.world.api.all<Content>(Secret).map(({ metadata }) => metadata.name)).not.toContain(
      'trusted-by-others',
    );
    expect(lab.condition('RolloutPolicy')).toContain('trusted-by-others was deleted');
  });

  it('makes the pods read copies, which are immutable and belong to the ReplicaSet', async () => {
    const lab = await pinned();
    expect(lab.sizes).toEqual({ 'app:1': 3 });
    const [set] = setsOf(lab);
    expect(copies(lab)).toHaveLength(2);
    for (const { immutable, metadata } of copies(lab)) {
      expect(immutable).toBe(true);
      expect(metadata.ownerReferences).toMatchObject([{ uid: set?.metadata.uid, controller: true }]);
      expect(metadata.name).toMatch(/^(web|key)-[0-9a-f]{10}$/);
    }
    const [web, key] = copies(lab).map(({ metadata }) => metadata.name);
    for (const pod of running(lab))
      expect(names(pod)).toEqual([web, expect.stringMatching(/^extra-/), key, web, key, undefined, web, key]);
  });

  it('leaves the template with the names of the originals, so that it equals that of its ReplicaSet', async () => {
    const lab = await pinned();
    const [set] = setsOf(lab);
    expect(lab.deployment.spec.template.spec).toEqual(POD);
    expect(set?.spec.template?.spec).toEqual(POD);
    expect(lab.world.replicaSets).toHaveLength(1);
  });

  it('gives a pod that starts again in an old version the old content', async () => {
    const lab = await pinned({ ...PINNED, steps: '1; approve' });
    await change(lab, 'configmap/web', { key: 'Mg==' });
    expect(read(lab).sort()).toEqual(['MQ==', 'MQ==', 'Mg==']);
    for (const pod of running(lab)) await lab.world.api.delete(PodKind, pod.metadata);
    await lab.rest();
    expect(read(lab).sort()).toEqual(['MQ==', 'MQ==', 'Mg==']);
  });

  it('makes a changed ConfigMap another version, which goes through all steps', async () => {
    const lab = await pinned({ ...PINNED, steps: '1; approve' });
    await change(lab, 'configmap/web', { key: 'Mg==' });
    expect(setsOf(lab).map(({ spec }) => spec.replicas)).toEqual([2, 1]);
    expect(lab.condition()).toMatch(/^Unknown WaitingForApproval/);
    await lab.annotate('approve', 'jane');
    expect(read(lab)).toEqual(['Mg==', 'Mg==', 'Mg==']);
  });

  it('gives the old content back with an undo, and does not roll forward by itself', async () => {
    const lab = await pinned();
    const [before] = setsOf(lab);
    await change(lab, 'configmap/web', { key: 'Mg==' });
    lab.world.change(({ spec }) => void (spec.template = structuredClone(before?.spec.template ?? {})));
    await lab.rest();
    await lab.pass(60_000);
    expect(setsOf(lab).map(({ metadata }) => metadata.name)).toEqual([before?.metadata.name]);
    expect(read(lab)).toEqual(['MQ==', 'MQ==', 'MQ==']);
  });

  it('goes back to the version of a content that comes back', async () => {
    const lab = await pinned();
    const [before] = setsOf(lab);
    await change(lab, 'configmap/web', { key: 'Mg==' });
    await change(lab, 'configmap/web', { key: 'MQ==' });
    expect(setsOf(lab).map(({ metadata }) => metadata.name)).toEqual([before?.metadata.name]);
    expect(copies(lab)).toHaveLength(4);
  });

  it('pins another image to the content of its own time', async () => {
    const lab = await pinned({ ...PINNED, freeze: 'for now' });
    put(lab, 'configmap/web', { key: 'Mg==' });
    lab.world.change((deployment) => setImage(deployment, 'app:2'));
    await lab.rest();
    await lab.annotate('freeze', undefined);
    expect(lab.sizes).toEqual({ 'app:2': 3 });
    expect(read(lab)).toEqual(['Mg==', 'Mg==', 'Mg==']);
    expect(lab.world.replicaSets).toHaveLength(2);
  });

  it('is a rollout when it is turned on, and when it is turned off, and says so', async () => {
    const lab = await pinned({});
    expect(copies(lab)).toEqual([]);
    await lab.annotate('config', 'pinned');
    expect(copies(lab)).toHaveLength(2);
    expect(lab.world.replicaSets).toHaveLength(2);
    expect(lab.eventsOf('ConfigurationPinned')[0]).toContain(
      'the pods are replaced by pods that read copies',
    );
    await lab.annotate('config', undefined);
    expect(lab.eventsOf('ConfigurationUnpinned')).toHaveLength(1);
    expect(lab.deployment.spec.template.metadata?.annotations ?? {}).toEqual({});
    expect(running(lab).map((pod) => pod.spec.containers[0]?.envFrom?.[0]?.configMapRef?.name)).toEqual([
      'web',
      'web',
      'web',
    ]);
    // The version from before is there already.
    expect(lab.world.replicaSets).toHaveLength(2);
  });

  it('says what is pinned, and what is not', async () => {
    const spec = structuredClone(POD);
    spec.imagePullSecrets = [{ name: 'registry' }];
    spec.volumes?.push(
      { name: 'csi', csi: { driver: 'secrets-store.csi.k8s.io' } },
      { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
    );
    const lab = await pinned({ config: 'pinned except secret/key' }, podShape(spec));
    expect(lab.eventsOf('ConfigurationPinned')).toEqual([
      expect.stringMatching(
        /^Normal ConfigurationPinned Pods of web-\w+ read copies of configmap\/extra, configmap\/web; not pinned: secret\/key, configmap\/extra, which does not exist and stays missing for this version, imagePullSecret registry, the tokens in volume token, CSI volume csi$/,
      ),
    ]);
    expect(copies(lab).map(({ kind }) => kind)).toEqual(['ConfigMap']);
  });

  it('does not pin a Secret that is filled with a token', async () => {
    const lab = await pinned(PINNED, podShape(), ['configmap/web']);
    put(lab, 'secret/key', { token: 'dA==' }, { type: 'kubernetes.io/service-account-token' });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 3 });
    expect(copies(lab).map(({ kind }) => kind)).toEqual(['ConfigMap']);
  });

  it('waits for what pods need, and says so', async () => {
    const lab = await pinned(PINNED, podShape(), ['configmap/web']);
    expect(lab.world.replicaSets).toEqual([]);
    expect(lab.condition()).toBe(
      'Unknown WaitingForConfiguration The version has not begun, because its configuration cannot be pinned: pods need secret/key, which does not exist',
    );
    put(lab, 'secret/key', { key: 'MQ==' });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 3 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('keeps the version before while the next one waits', async () => {
    const lab = await pinned();
    lab.world.change(({ spec }) => {
      const [container] = spec.template.spec?.containers ?? [];
      container?.envFrom?.push({ configMapRef: { name: 'new' } });
    });
    await lab.rest();
    expect(lab.condition()).toMatch(/^Unknown WaitingForConfiguration .* pods need configmap\/new/);
    await lab.scale(4);
    expect(setsOf(lab).map(({ spec }) => spec.replicas)).toEqual([4]);
    put(lab, 'configmap/new', { a: '1' });
    await lab.rest();
    expect(running(lab)).toHaveLength(4);
    expect(copies(lab)).toHaveLength(5);
  });

  it('starts no pod while no copy can be made, and removes none', async () => {
    const lab = await pinned();
    const create = lab.world.api.create.bind(lab.world.api);
    let refused = true;
    lab.world.api.create = async (type, object) => {
      if (refused && type.resource === 'configmaps') throw refusal(403);
      return create(type, object);
    };
    put(lab, 'configmap/web', { key: 'Mg==' });
    await lab.rest();
    await expect(lab.pass(DEBOUNCE_MS)).rejects.toThrow();
    await lab.world.settle();
    expect(read(lab)).toEqual(expect.arrayContaining(['MQ==', 'MQ==']));
    expect(read(lab)).not.toContain('Mg==');
    expect(lab.eventsOf('ConfigurationNotCopied')[0]).toContain('no copy of configmap/web can be made');
    refused = false;
    await lab.rest();
    expect(read(lab)).toEqual(['Mg==', 'Mg==', 'Mg==']);
  });

  it('does not notice that an original is deleted or changed, until a version begins', async () => {
    const lab = await pinned({ ...PINNED, freeze: 'for now' });
    await lab.world.api.delete(ConfigMap, { namespace: 'default', name: 'web' });
    await lab.rest();
    for (const pod of running(lab)) await lab.world.api.delete(PodKind, pod.metadata);
    await lab.rest();
    expect(read(lab)).toEqual(['MQ==', 'MQ==', 'MQ==']);
  });

  it('makes a deleted copy again while the original is the same, and says when it is not', async () => {
    const lab = await pinned({ ...PINNED, freeze: 'for now' });
    const [copy] = copies(lab);
    await lab.world.api.delete(ConfigMap, copy?.metadata ?? { name: '' });
    await lab.rest();
    expect(copies(lab).map(({ metadata }) => metadata.name)).toContain(copy?.metadata.name);
    put(lab, 'configmap/web', { key: 'Mg==' });
    await lab.world.api.delete(ConfigMap, copy?.metadata ?? { name: '' });
    await lab.rest();
    expect(lab.condition('RolloutPolicy')).toContain(`configmap ${copy?.metadata.name} was deleted`);
  });

  it('holds a version whose controller makes no copies, and does not change one that runs', async () => {
    const controller = createDeploymentController({ restartOnConfig: true });
    const lab = await PolicyLab.rolledOut({}, podShape(), { controller });
    await lab.annotate('config', 'pinned');
    expect(lab.condition('RolloutPolicy')).toMatch(/^False ConfigurationNotPinned .*--pin-config$/);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 3 });
    expect(lab.condition()).toMatch(/^Unknown WaitingForConfiguration/);
  });

  it.each(['yes', 'pinned except', 'pinned except tls', 'pinned except config', 'pinned secret/a'])(
    '%j is refused',
    async (value) => {
      const lab = await PolicyLab.rolledOut({ config: value }, { replicas: 1 });
      expect(lab.condition('RolloutPolicy')).toContain('InvalidAnnotation');
    },
  );

  it('shows the content of no Secret in Events, annotations or conditions', async () => {
    const secret = 'bm90IHRvIGJlIHNlZW4=';
    const lab = await pinned(PINNED, podShape(), ['configmap/web']);
    put(lab, 'secret/key', { key: secret });
    await lab.rest();
    await change(lab, 'secret/key', { key: `${secret}${secret}` });
    const shown = JSON.stringify([lab.deployment, lab.world.replicaSets, running(lab), lab.world.events]);
    expect(shown).not.toContain('bm90IHRv');
    expect(copies(lab).some(({ data }) => data?.['key'] === secret)).toBe(true);
  });
});
