import { parseJson, stringifyJson } from '../src/machinery/kubernetes/index.js';
import { number, readFlags } from '../test/support/flags.js';

/**
 * Measures the cost of keeping integers that a double cannot hold: `parseJson` and `stringifyJson` against `JSON`
 * alone, on an ordinary pod, on a page of them, and on a pod and a page that hold such an integer. They take turns,
 * so that both meet the same machine. Medians of CPU time are compared, so that other processes on it count less.
 */
const { rounds: ROUNDS } = readFlags('npm run bench -- --json', { rounds: number('turns of each', 41) });
/** How long one turn is, about; long against the clock's resolution. */
const TURN_MS = 25;

const labels = { app: 'web', 'pod-template-hash': '7c5ddbdf54' };
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-7c5ddbdf54-x2b9k',
    generateName: 'web-7c5ddbdf54-',
    namespace: 'default',
    uid: '3f0c7f0e-7d44-4c0c-9a0e-0f3e1de1a5c1',
    resourceVersion: '123456',
    creationTimestamp: '2026-01-01T10:00:00Z',
    labels,
    annotations: { 'rollkeeper.dev/traceparent': '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web-7c5ddbdf54',
        uid: '0e7c7f0e-7d44-4c0c-9a0e-0f3e1de1a5c1',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    containers: [
      {
        name: 'web',
        image: 'registry.example/web@sha256:a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90',
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        env: Array.from({ length: 8 }, (_, index) => ({
          name: `VARIABLE_${index}`,
          value: `value ${index}`,
        })),
        resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '250m', memory: '64Mi' } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    nodeName: 'node-1',
    securityContext: { runAsUser: 1000 },
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((name) => ({
      key: `node.kubernetes.io/${name}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  },
  status: {
    phase: 'Running',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: '2026-01-01T10:00:05Z',
    })),
    podIP: '10.1.0.7',
    podIPs: [{ ip: '10.1.0.7' }],
    startTime: '2026-01-01T10:00:00Z',
    containerStatuses: [
      {
        name: 'web',
        state: { running: { startedAt: '2026-01-01T10:00:04Z' } },
        ready: true,
        restartCount: 0,
        containerID: 'containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
      },
    ],
  },
};
const exact = { ...pod, spec: { ...pod.spec, terminationGracePeriodSeconds: 9007199254740993n } };
const page = { items: Array.from({ length: 500 }, () => pod) };
const exactPage = { items: [...page.items.slice(1), exact] };

type Subject = () => unknown;

/** CPU microseconds a call, of both in turns. */
function compare(alone: Subject, ours: Subject): { alone: number; ours: number } {
  const calls = callsPerTurn(alone);
  const times = { alone: [] as number[], ours: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    // The second of the two finds warmer caches, so each of them comes second half of the time.
    const order = round % 2 === 0 ? (['alone', 'ours'] as const) : (['ours', 'alone'] as const);
    for (const who of order) times[who].push(turn(who === 'alone' ? alone : ours, calls) / calls);
  }
  return { alone: median(times.alone), ours: median(times.ours) };
}

function callsPerTurn(subject: Subject): number {
  for (let calls = 1; ; calls *= 2) if (turn(subject, calls) > TURN_MS * 1000) return calls;
}

/** CPU microseconds. */
function turn(subject: Subject, calls: number): number {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call++) subject();
  const { system, user } = process.cpuUsage(before);
  return system + user;
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function print(what: string, { alone, ours }: { alone: number; ours: number }): void {
  const change = `${ours >= alone ? '+' : ''}${((ours / alone - 1) * 100).toFixed(1)} %`;
  console.log(
    `${what.padEnd(44)}${alone.toFixed(2).padStart(10)}${ours.toFixed(2).padStart(10)}${change.padStart(10)}`,
  );
}

const [podText, pageText] = [JSON.stringify(pod), JSON.stringify(page)];
const [exactText, exactPageText] = [stringifyJson(exact), stringifyJson(exactPage)];
console.log(
  `${'microseconds'.padEnd(44)}${'JSON'.padStart(10)}${'ours'.padStart(10)}${'change'.padStart(10)}`,
);
for (const [what, text] of [
  [`parse a pod (${podText.length} bytes)`, podText],
  [`parse 500 pods (${pageText.length} bytes)`, pageText],
  ['parse a pod with a large integer', exactText],
  ['parse 500 pods, one with a large integer', exactPageText],
] as const) {
  print(
    what,
    compare(
      () => JSON.parse(text) as unknown,
      () => parseJson(text),
    ),
  );
}
for (const [what, plain, object] of [
  ['stringify a pod', pod, pod],
  ['stringify 500 pods', page, page],
  ['stringify a pod with a large integer', pod, exact],
  ['stringify 500 pods, one with a large integer', page, exactPage],
] as const) {
  print(
    what,
    compare(
      () => JSON.stringify(plain),
      () => stringifyJson(object),
    ),
  );
}
