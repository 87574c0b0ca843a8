import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../machinery/clock/index.js';
import type { PodSpec } from '../machinery/kubernetes/index.js';
import { ConfigMap, Node, PersistentVolumeClaim, Pod, Secret } from '../machinery/kubernetes/index.js';
import { silentLogger } from '../machinery/logging/index.js';
import { FakeCluster } from '../testing/fake-cluster.js';
import { FakeInformers } from '../testing/fake-informers.js';
import { MemoryEventRecorder } from '../testing/memory-event-recorder.js';
import { NodeSimulator } from './node-simulator.js';
import { compileNodeSimulatorOptions } from './node-simulator.options.js';
import type { KeyedObject } from './pod-sources.js';
import { PodSources, keysAlone } from './pod-sources.js';

let clock: FakeClock;
let cluster: FakeCluster;
let events: MemoryEventRecorder;
let informers: FakeInformers;
let stop: () => Promise<void>;

beforeEach(async () => {
  clock = new FakeClock();
  cluster = new FakeCluster(clock);
  events = new MemoryEventRecorder();
  informers = new FakeInformers(cluster);
  const sources = new PodSources({
    configMaps: informers.informerFor<KeyedObject>(ConfigMap),
    secrets: informers.informerFor<KeyedObject>(Secret),
    claims: informers.informerFor<PersistentVolumeClaim>(PersistentVolumeClaim),
  });
  const simulator = new NodeSimulator(
    {
      ...{ client: cluster, clock, events, logger: silentLogger, sources },
      pods: informers.informerFor<Pod>(Pod),
      nodes: informers.informerFor<Node>(Node),
    },
    compileNodeSimulatorOptions({ nodes: 1 }),
  );
  const stopper = new AbortController();
  await simulator.register(stopper.signal);
  const done = simulator.run(stopper.signal);
  stop = async () => {
    stopper.abort();
    await done;
  };
});
afterEach(() => stop());

const CONTAINER = { name: 'main', image: 'nginx' };

async function putPod(spec: Partial<PodSpec>): Promise<void> {
  cluster.seed<Pod>(Pod, {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } },
    spec: { nodeName: 'node-0', containers: [CONTAINER], ...spec },
    status: { phase: 'Pending' },
  });
  await clock.advance(100);
}

async function put(kind: 'ConfigMap' | 'Secret', name: string, ...keys: readonly string[]): Promise<void> {
  const data = Object.fromEntries(keys.map((key) => [key, 'x']));
  const metadata = { name, namespace: 'shop' };
  cluster.seed<KeyedObject>(kind === 'Secret' ? Secret : ConfigMap, {
    ...{ apiVersion: 'v1', kind, metadata, data },
  });
  await clock.advance(100);
}

async function putClaim(phase: 'Pending' | 'Bound'): Promise<void> {
  cluster.seed<PersistentVolumeClaim>(PersistentVolumeClaim, {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data', namespace: 'shop' } },
    ...{ spec: {}, status: { phase } },
  });
  await clock.advance(100);
}

const status = () => cluster.peek<Pod>(Pod, 'shop/web')?.status;
const conditionOf = (type: string) => status()?.conditions?.find((each) => each.type === type)?.status;
/** Why the container waits; `Running`, if it does not. */
const waits = () => {
  const { waiting } = status()?.containerStatuses?.[0]?.state ?? {};
  return waiting ? [waiting.reason, waiting.message] : ['Running'];
};
const told = () => events.events.map(({ message, reason, type }) => `${type} ${reason} ${message}`);

const env = (valueFrom: object) => ({
  containers: [{ ...CONTAINER, env: [{ name: 'A', valueFrom }] }] as PodSpec['containers'],
});
const envFrom = (source: object) => ({
  containers: [{ ...CONTAINER, envFrom: [source] }] as PodSpec['containers'],
});
const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] as PodSpec['volumes'] });

describe('a container whose environment refers to what does not exist', () => {
  it.each<[Partial<PodSpec>, string, 'ConfigMap' | 'Secret']>([
    [env({ configMapKeyRef: { name: 'c', key: 'k' } }), 'configmap "c" not found', 'ConfigMap'],
    [env({ secretKeyRef: { name: 'c', key: 'k' } }), 'secret "c" not found', 'Secret'],
    [envFrom({ configMapRef: { name: 'c' } }), 'configmap "c" not found', 'ConfigMap'],
    [envFrom({ secretRef: { name: 'c' } }), 'secret "c" not found', 'Secret'],
  ])('is not created, and is as soon as it exists: %j', async (spec, message, kind) => {
    await putPod(spec);
    expect(waits()).toEqual(['CreateContainerConfigError', message]);
    expect(told()).toEqual([`Warning Failed Error: ${message}`]);
    expect([status()?.phase, conditionOf('PodReadyToStartContainers')]).toEqual(['Pending', 'True']);
    expect(status()?.podIP).toMatch(/^10\./);
    await put(kind, 'other', 'k');
    expect(waits()).toEqual(['CreateContainerConfigError', message]);
    await put(kind, 'c', 'k');
    expect([...waits(), conditionOf('Ready')]).toEqual(['Running', 'True']);
  });

  it('lacks a key, and starts with it', async () => {
    await put('Secret', 'c', 'other');
    await putPod(env({ secretKeyRef: { name: 'c', key: 'k' } }));
    expect(waits()).toEqual(['CreateContainerConfigError', "couldn't find key k in Secret shop/c"]);
    await cluster.patch(
      Secret,
      { namespace: 'shop', name: 'c' },
      { type: 'merge', body: { data: { k: 'x' } } },
    );
    await clock.advance(100);
    expect(waits()).toEqual(['Running']);
  });

  it.each<[Partial<PodSpec>]>([
    [env({ configMapKeyRef: { name: 'c', key: 'k', optional: true } })],
    [env({ secretKeyRef: { name: 'c', key: 'k', optional: true } })],
    [envFrom({ configMapRef: { name: 'c', optional: true } })],
    [envFrom({ secretRef: { name: 'c', optional: true } })],
    [volume({ configMap: { name: 'c', optional: true } })],
    [volume({ secret: { secretName: 'c', optional: true, items: [{ key: 'k', path: 'k' }] } })],
    [volume({ projected: { sources: [{ secret: { name: 'c', optional: true } }] } })],
    [volume({ projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }] } })],
    [volume({ emptyDir: {} })],
  ])('starts where the reference is optional: %j', async (spec) => {
    await putPod(spec);
    expect([...waits(), ...told()]).toEqual(['Running']);
  });
});

describe('a container that has to be started again', () => {
  const secretRef = env({ secretKeyRef: { name: 'c', key: 'k' } });

  it('is not, once its Secret is gone, and keeps its number and how it ended', async () => {
    await put('Secret', 'c', 'k');
    const [container] = secretRef.containers;
    await putPod({ containers: [{ ...container!, command: ['sh', '-c', 'sleep 5; exit 3'] }] });
    await cluster.delete(Secret, { namespace: 'shop', name: 'c' });
    expect(waits()).toEqual(['Running']);
    await clock.advance(30_000);
    expect(waits()).toEqual(['CreateContainerConfigError', 'secret "c" not found']);
    const before = status()?.containerStatuses?.[0];
    expect(before).toMatchObject({ restartCount: 0, lastState: { terminated: { exitCode: 3 } } });
    expect(before?.containerID).toBeDefined();
    expect(status()?.phase).toBe('Running');
    expect(told()).toContain('Warning Failed Error: secret "c" not found');
    await put('Secret', 'c', 'k');
    expect(waits()).toEqual(['Running']);
    expect(status()?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 3 } },
    });
  });
});

describe('a pod whose volumes refer to what does not exist', () => {
  const MOUNT = 'MountVolume.SetUp failed for volume "v" : ';
  it.each<[Partial<PodSpec>, string, 'ConfigMap' | 'Secret']>([
    [volume({ configMap: { name: 'c' } }), 'configmap "c" not found', 'ConfigMap'],
    [volume({ secret: { secretName: 'c' } }), 'secret "c" not found', 'Secret'],
    [volume({ projected: { sources: [{ secret: { name: 'c' } }] } }), 'secret "c" not found', 'Secret'],
  ])('has no sandbox until it exists: %j', async (spec, why, kind) => {
    await putPod(spec);
    expect(waits()).toEqual(['ContainerCreating', undefined]);
    expect(told()).toEqual([`Warning FailedMount ${MOUNT}${why}`]);
    expect([status()?.phase, status()?.podIP, status()?.hostIP]).toEqual([
      'Pending',
      undefined,
      '172.18.0.2',
    ]);
    expect(conditionOf('PodReadyToStartContainers')).toBe('False');
    await put(kind, 'c');
    expect([...waits(), conditionOf('PodReadyToStartContainers')]).toEqual(['Running', 'True']);
    expect(status()?.podIP).toMatch(/^10\./);
  });

  it('lacks nothing that is created with it, though the nodes hear of it a moment later', async () => {
    cluster.seed<Pod>(Pod, {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } },
      spec: { nodeName: 'node-0', containers: [CONTAINER], ...volume({ secret: { secretName: 'c' } }) },
      status: { phase: 'Pending' },
    });
    await clock.advance(20);
    await put('Secret', 'c');
    expect([...waits(), ...told()]).toEqual(['Running']);
  });

  it('lacks keys, and several sources of one projection', async () => {
    await put('ConfigMap', 'c', 'other');
    const items = [{ key: 'k', path: 'k' }];
    const sources = [{ configMap: { name: 'c', items } }, { secret: { name: 's' } }];
    await putPod(volume({ projected: { sources } }));
    const why = '[configmap references non-existent config key: k, secret "s" not found]';
    expect(told()).toEqual([`Warning FailedMount ${MOUNT}${why}`]);
    await put('Secret', 's');
    expect(told()[1]).toBe(`Warning FailedMount ${MOUNT}configmap references non-existent config key: k`);
  });

  it('waits for its claim, and for the claim to be bound', async () => {
    await putPod(volume({ persistentVolumeClaim: { claimName: 'data' } }));
    const failed = `Warning FailedMount Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: error processing PVC shop/data: `;
    const fetch = 'failed to fetch PVC from API server: persistentvolumeclaims "data" not found';
    expect(told()).toEqual([`${failed}${fetch}`]);
    await putClaim('Pending');
    expect(told()[1]).toBe(`${failed}PVC is not bound`);
    expect(waits()).toEqual(['ContainerCreating', undefined]);
    await putClaim('Bound');
    expect(waits()).toEqual(['Running']);
  });

  it('has init containers that wait as well', async () => {
    await putPod({
      ...volume({ secret: { secretName: 'c' } }),
      initContainers: [{ ...CONTAINER, name: 'init' }],
    });
    expect(waits()).toEqual(['PodInitializing', undefined]);
    expect(conditionOf('Initialized')).toBe('False');
    await put('Secret', 'c');
    expect(waits()).toEqual(['Running']);
  });

  it('keeps running when its sources are deleted', async () => {
    await put('Secret', 'c', 'k');
    await putPod({
      ...volume({ secret: { secretName: 'c' } }),
      ...env({ secretKeyRef: { name: 'c', key: 'k' } }),
    });
    await cluster.delete(Secret, { namespace: 'shop', name: 'c' });
    await clock.advance(60_000);
    expect([...waits(), ...told()]).toEqual(['Running']);
  });
});

describe('a pod whose image pull secrets do not exist', () => {
  const spec = (...names: readonly string[]) => ({ imagePullSecrets: names.map((name) => ({ name })) });
  const unable = 'Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets: [a b]';

  it('cannot pull its image until one exists', async () => {
    await putPod(spec('a', 'b'));
    const [reason, message] = waits();
    expect(reason).toBe('ErrImagePull');
    expect(message).toContain('pull access denied');
    expect(told().filter((line) => line === unable)).toEqual([unable]);
    await clock.advance(3000);
    expect(waits()[0]).toBe('ImagePullBackOff');
    await put('Secret', 'a');
    expect(waits()).toEqual(['Running']);
  });

  it('pulls with the others, and nobody is told of those that are missing', async () => {
    await put('Secret', 'a');
    await putPod(spec('a', 'b'));
    expect([...waits(), ...told()]).toEqual(['Running']);
  });
});

it('nodes keep the keys of what pods read, and no value', () => {
  const secret = keysAlone({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c', annotations: { last: 'secret' } } },
    ...{ data: { password: 'c2VjcmV0' }, binaryData: { blob: 'c2VjcmV0' } },
  });
  expect(secret.data).toEqual({ password: '', blob: '' });
  expect(JSON.stringify(secret)).not.toMatch(/c2VjcmV0|annotations/);
});

it('a node that may not list what pods read runs them', async () => {
  await stop();
  const all = { hasSynced: false } as unknown as ReturnType<typeof informers.informerFor<KeyedObject>>;
  const claims = all as unknown as ReturnType<typeof informers.informerFor<PersistentVolumeClaim>>;
  const sources = new PodSources({ configMaps: all, secrets: all, claims });
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } },
    spec: { ...volume({ persistentVolumeClaim: { claimName: 'd' } }), containers: [CONTAINER] },
  } as Pod;
  expect(sources.missingOf(pod)).toMatchObject({ mounts: [], pullSecrets: [], cannotPull: false });
});
