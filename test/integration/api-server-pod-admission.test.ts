import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDeployment, podBody, startApiServer } from './api-server-harness.js';
import type { ApiAnswer, Body, RunningApiServer } from './api-server-harness.js';

const LEVEL = 'pod-security.kubernetes.io/';
const PATCH = { 'content-type': 'application/merge-patch+json' };
const PLAIN =
  'allowPrivilegeEscalation != false (container "nginx" must set securityContext.allowPrivilegeEscalation=false), ' +
  'unrestricted capabilities (container "nginx" must set securityContext.capabilities.drop=["ALL"]), ' +
  'runAsNonRoot != true (pod or container "nginx" must set securityContext.runAsNonRoot=true), ' +
  'seccompProfile (pod or container "nginx" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

const namespace = (name: string, labels: Record<string, string> = {}): Promise<ApiAnswer> =>
  server.call('POST', '/api/v1/namespaces', {
    metadata: {
      name,
      labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [LEVEL + key, value])),
    },
  });
const label = (name: string, labels: Record<string, string | null>): Promise<ApiAnswer> =>
  server.call(
    'PATCH',
    `/api/v1/namespaces/${name}`,
    {
      metadata: {
        labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [LEVEL + key, value])),
      },
    },
    PATCH,
  );
const create = (home: string, pod: Body): Promise<ApiAnswer> =>
  server.call('POST', `/api/v1/namespaces/${home}/pods`, pod);
const withContainer = (name: string, more: Body): Body => {
  const pod = podBody(name);
  return { ...pod, spec: { ...pod.spec, containers: [{ ...pod.spec.containers[0], ...more }] } };
};
const warningsOf = ({ headers }: ApiAnswer): readonly string[] =>
  [...(headers.get('warning') ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  );
const told = (answer: ApiAnswer): [number, string, readonly string[]] => [
  answer.status,
  (answer.body.message as string | undefined) ?? '',
  warningsOf(answer),
];

describe('PodSecurity', () => {
  it('refuses what a namespace does not let in, and lets the rest in', async () => {
    await namespace('strict', { enforce: 'restricted' });
    expect(told(await create('strict', podBody('plain')))).toEqual([
      403,
      `pods "plain" is forbidden: violates PodSecurity "restricted:latest": ${PLAIN}`,
      [],
    ]);
    const securityContext = {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    };
    expect((await create('strict', withContainer('harmless', { securityContext }))).status).toBe(201);
    await namespace('loose');
    expect(told(await create('loose', podBody('plain')))).toEqual([201, '', []]);
  });

  it('names the generated name of what it refuses', async () => {
    const { body } = await create('strict', { ...podBody(''), metadata: { generateName: 'web-' } });
    expect(body.message).toMatch(/^pods "web-[a-z0-9]{5}" is forbidden: violates/);
  });

  it('warns of pods and of templates, and refuses no template', async () => {
    await namespace('warned', { warn: 'restricted', 'warn-version': 'v1.7' });
    const warning =
      'would violate PodSecurity "restricted:v1.7": runAsNonRoot != true (pod or container "nginx" must set securityContext.runAsNonRoot=true)';
    expect(told(await create('warned', podBody('plain')))).toEqual([201, '', [warning]]);
    const deployments = '/apis/apps/v1/namespaces/warned/deployments';
    expect(told(await server.call('POST', deployments, aDeployment('web')))).toEqual([201, '', [warning]]);
    const job = { spec: { restartPolicy: 'Never', containers: [{ name: 'nginx', image: 'x' }] } };
    const cronJob = {
      metadata: { name: 'c' },
      spec: { schedule: '* * * * *', jobTemplate: { spec: { template: job } } },
    };
    const cronJobs = '/apis/batch/v1/namespaces/warned/cronjobs';
    expect(told(await server.call('POST', cronJobs, cronJob))).toEqual([201, '', [warning]]);
  });

  it('looks at updates that bring new images, and at debug containers', async () => {
    await namespace('later');
    await create('later', podBody('plain'));
    await label('later', { enforce: 'restricted' });
    const path = '/api/v1/namespaces/later/pods/plain';
    expect((await server.call('PATCH', path, { metadata: { labels: { a: 'b' } } }, PATCH)).status).toBe(200);
    const image = { spec: { containers: [{ name: 'nginx', image: 'other' }] } };
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
    expect((await server.call('PATCH', path, image, strategic)).status).toBe(403);
    const debug = { spec: { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] } };
    expect((await server.call('PATCH', `${path}/ephemeralcontainers`, debug, strategic)).status).toBe(403);
  });

  it('refuses labels that it cannot read, and warns of the pods that a new level finds', async () => {
    expect(told(await namespace('wrong', { enforce: 'tight' }))).toEqual([
      422,
      `Namespace "wrong" is invalid: metadata.labels[${LEVEL}enforce]: Invalid value: "tight": must be one of privileged, baseline, restricted`,
      [],
    ]);
    await namespace('inhabited');
    await create('inhabited', withContainer('b', { securityContext: { privileged: true } }));
    await create('inhabited', withContainer('a', { securityContext: { privileged: true } }));
    await create('inhabited', podBody('harmless'));
    expect(told(await label('inhabited', { enforce: 'baseline' }))).toEqual([
      200,
      '',
      [
        'existing pods in namespace "inhabited" violate the new PodSecurity enforce level "baseline:latest"',
        'a (and 1 other pod): privileged',
      ],
    ]);
    expect(warningsOf(await label('inhabited', { enforce: 'privileged' }))).toEqual([]);
  });
});

describe('a runtime class', () => {
  const CLASS = {
    metadata: { name: 'heavy' },
    handler: 'h',
    overhead: { podFixed: { cpu: '250m' } },
    scheduling: { nodeSelector: { runtime: 'h' }, tolerations: [{ key: 'r', operator: 'Exists' }] },
  };
  const pod = (name: string, spec: Body): Body => ({
    ...podBody(name),
    spec: { ...podBody(name).spec, ...spec },
  });

  beforeAll(async () => {
    await server.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', CLASS);
    await namespace('runtimes');
  });

  it('gives its pods an overhead, and the nodes that have the runtime', async () => {
    const { body } = await create(
      'runtimes',
      pod('p', { runtimeClassName: 'heavy', nodeSelector: { a: 'b' } }),
    );
    const { nodeSelector, overhead, tolerations } = body.spec;
    expect({ nodeSelector, overhead }).toEqual({
      nodeSelector: { a: 'b', runtime: 'h' },
      overhead: { cpu: '250m' },
    });
    expect(tolerations.at(-1)).toEqual({ key: 'r', operator: 'Exists' });
  });

  it.each([
    [{ runtimeClassName: 'none' }, 'pod rejected: RuntimeClass "none" not found'],
    [
      { overhead: { cpu: '1' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      { runtimeClassName: 'heavy', overhead: { cpu: '1' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      { runtimeClassName: 'heavy', nodeSelector: { runtime: 'x' } },
      'conflict: runtimeClass.scheduling.nodeSelector[runtime] = h; pod.spec.nodeSelector[runtime] = x',
    ],
  ])('refuses %j', async (spec, problem) => {
    expect(told(await create('runtimes', pod('refused', spec)))).toEqual([
      403,
      `pods "refused" is forbidden: ${problem}`,
      [],
    ]);
  });
});

describe('the node of a pod', () => {
  const ZONE = 'topology.kubernetes.io/zone';

  beforeAll(async () => {
    await server.call('POST', '/api/v1/nodes', {
      metadata: { name: 'here', labels: { [ZONE]: 'z', other: 'o' } },
    });
    await namespace('places');
  });

  it('is among its labels once it is bound, unless they say otherwise', async () => {
    for (const [name, labels] of [
      ['without', { app: 'a' }],
      ['with', { [ZONE]: 'own' }],
    ] as const) {
      await create('places', podBody(name, { labels }));
      const binding = { metadata: { name }, target: { kind: 'Node', name: 'here' } };
      await server.call('POST', `/api/v1/namespaces/places/pods/${name}/binding`, binding);
    }
    const labelsOf = async (name: string): Promise<unknown> =>
      (await server.call('GET', `/api/v1/namespaces/places/pods/${name}`)).body.metadata.labels;
    expect(await labelsOf('without')).toEqual({ app: 'a', [ZONE]: 'z' });
    expect(await labelsOf('with')).toEqual({ [ZONE]: 'own' });
  });

  it('is among its labels from the beginning where it names its node', async () => {
    const pod = podBody('placed');
    const { body } = await create('places', { ...pod, spec: { ...pod.spec, nodeName: 'here' } });
    expect(body.metadata.labels).toMatchObject({ [ZONE]: 'z' });
  });

  it('is not decided while it is gated', async () => {
    const pod = podBody('gated');
    await create('places', { ...pod, spec: { ...pod.spec, schedulingGates: [{ name: 'a.b/c' }] } });
    const binding = { metadata: { name: 'gated' }, target: { kind: 'Node', name: 'here' } };
    const answer = await server.call('POST', '/api/v1/namespaces/places/pods/gated/binding', binding);
    expect(told(answer).slice(0, 2)).toEqual([
      409,
      'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
    ]);
  });

  it('may depend on its own labels, by which its selectors are completed', async () => {
    const pod = podBody('spread', { labels: { app: 'a', version: '2' } });
    const labelSelector = { matchLabels: { app: 'a' } };
    const term = { topologyKey: ZONE, labelSelector, matchLabelKeys: ['version', 'none'] };
    const constraint = { ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
    const affinity = {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: ZONE, labelSelector, mismatchLabelKeys: ['version'] },
        ],
      },
    };
    const spec = { ...pod.spec, topologySpreadConstraints: [constraint], affinity };
    const { body } = await create('places', { ...pod, spec });
    expect(body.spec.topologySpreadConstraints[0].labelSelector).toEqual({
      ...labelSelector,
      matchExpressions: [{ key: 'version', operator: 'In', values: ['2'] }],
    });
    const [shown] = body.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    expect(shown.labelSelector.matchExpressions).toEqual([
      { key: 'version', operator: 'NotIn', values: ['2'] },
    ]);
    const twice = { ...constraint, labelSelector: { matchLabels: { version: '2' } } };
    const refused = await create('places', {
      ...podBody('twice', pod.metadata),
      spec: { ...pod.spec, topologySpreadConstraints: [twice] },
    });
    expect(refused.body.message).toContain('exists in both matchLabelKeys and labelSelector');
  });
});
