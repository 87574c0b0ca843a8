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
import { PodSources } from './pod-sources.js';

let clock: FakeClock;
let cluster: FakeCluster;
let events: MemoryEventRecorder;
let stop: () => Promise<void>;

/** One node, which has the image `local:1` and can pull all others. */
beforeEach(async () => {
  clock = new FakeClock();
  cluster = new FakeCluster(clock);
  events = new MemoryEventRecorder();
  const informers = new FakeInformers(cluster);
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
    compileNodeSimulatorOptions({ nodes: 1, profiles: [{ images: ['local:1'] }] }),
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

async function putPod(spec: Partial<PodSpec>, name = 'web'): Promise<void> {
  cluster.seed<Pod>(Pod, {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop' } },
    spec: { nodeName: 'node-0', containers: [CONTAINER], ...spec },
    status: { phase: 'Pending' },
  });
  await clock.advance(100);
}

const status = (name = 'web') => cluster.peek<Pod>(Pod, `shop/${name}`)?.status;
const conditionOf = (type: string) => status()?.conditions?.find((each) => each.type === type)?.status;
/** Why the container waits; `Running`, if it does not. */
const waits = (name?: string) => {
  const { waiting } = status(name)?.containerStatuses?.[0]?.state ?? {};
  return waiting ? [waiting.reason, waiting.message] : ['Running'];
};
const told = () => events.events.map(({ message, reason, type }) => `${type} ${reason} ${message}`);

const env = (valueFrom: object) => ({
  containers: [{ ...CONTAINER, env: [{ name: 'A', valueFrom }] }] as PodSpec['containers'],
});
const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] as PodSpec['volumes'] });

describe('a container that may not be what it asks to be', () => {
  it('does not run as root where it must not', async () => {
    const main = { ...CONTAINER, securityContext: { runAsUser: 0 } };
    await putPod({ containers: [main], securityContext: { runAsNonRoot: true } });
    const [reason, message] = waits();
    expect(reason).toBe('CreateContainerConfigError');
    expect(message).toMatch(
      /^container's runAsUser breaks non-root policy \(pod: "web_shop\(.+\)", container: main\)$/,
    );
  });

  it.each<Partial<PodSpec>>([
    { containers: [{ ...CONTAINER, securityContext: { runAsUser: 0, runAsNonRoot: false } }] },
    { containers: [{ ...CONTAINER, securityContext: { runAsUser: 1000 } }] },
    { containers: [CONTAINER] },
  ])('runs otherwise: %j', async (spec) => {
    await putPod({ securityContext: { runAsNonRoot: true }, ...spec });
    expect(waits()).toEqual(['Running']);
  });

  it('is killed when its postStart hook fails, and started again later', async () => {
    const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'exit 1'] } } };
    await putPod({ containers: [{ ...CONTAINER, lifecycle }] });
    expect([...waits(), conditionOf('Ready')]).toEqual(['Running', 'False']);
    await clock.advance(5000);
    expect(waits()[0]).toBe('CrashLoopBackOff');
    expect(status()?.containerStatuses?.[0]?.lastState).toMatchObject({ terminated: { exitCode: 137 } });
    expect(told()).toContain('Warning FailedPostStartHook PostStartHook failed');
    expect(told()).toContain('Normal Killing FailedPostStartHook');
  });

  it('has its variables from a file that no other container can have written', async () => {
    const fileKeyRef = { volumeName: 'v', path: 'a.env', key: 'k' };
    const spec = { ...env({ fileKeyRef }), ...volume({ emptyDir: {} }) };
    await putPod(spec);
    expect(waits()).toEqual(['CreateContainerConfigError', "couldn't parse env file"]);
  });

  it.each<Partial<PodSpec>>([
    env({ fileKeyRef: { volumeName: 'v', path: 'a.env', key: 'k', optional: true } }),
    {
      ...env({ fileKeyRef: { volumeName: 'v', path: 'a.env', key: 'k', optional: false } }),
      initContainers: [{ ...CONTAINER, name: 'init', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    },
  ])('runs where the file is optional, or an init container may have written it: %j', async (spec) => {
    await putPod({ ...spec, ...volume({ emptyDir: {} }) });
    expect(waits()).toEqual(['Running']);
  });

  it('is not pulled where it must not, and the node does not have its image', async () => {
    const never = (image: string) => ({
      containers: [{ ...CONTAINER, image, imagePullPolicy: 'Never' as const }],
    });
    await putPod(never('other:1'));
    const message = 'Container image "other:1" is not present with pull policy of Never';
    expect(waits()).toEqual(['ErrImageNeverPull', message]);
    expect(told()).toEqual([
      `Warning ErrImageNeverPull ${message}`,
      'Warning Failed Error: ErrImageNeverPull',
    ]);
    await putPod(never('local:1'), 'local');
    expect(waits('local')).toEqual(['Running']);
    // Another pod brings it.
    await putPod({ containers: [{ ...CONTAINER, image: 'other:1' }] }, 'pulls');
    await putPod(never('other:1'), 'late');
    expect(waits('late')).toEqual(['Running']);
  });
});
