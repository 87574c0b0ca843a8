import { createHash, randomUUID } from 'node:crypto';
import { toRfc3339 } from '../../src/machinery/clock/index.js';
import type { StorageRecord } from '../../src/apiserver/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import {
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  qualifiedResource,
} from '../../src/machinery/kubernetes/index.js';

export interface SteadyClusterOptions {
  readonly deployments: number;
  /** The number of pods of each Deployment. */
  readonly pods: number;
  readonly nodes: number;
  /** The Deployments are in these in turn. @default all in `default` */
  readonly namespaces?: readonly string[];
}

const CREATED = '2026-01-02T03:04:05Z';

/**
 * Deployments that have rolled out, with their ReplicaSets and pods, as large as those of clusters are: some 3.5 kB a pod, with defaults,
 * service account volume, conditions and managed fields. There is nothing to do for their controllers.
 */
export async function* steadyCluster({
  deployments,
  namespaces = ['default'],
  nodes,
  pods,
}: SteadyClusterOptions): AsyncGenerator<StorageRecord> {
  for (const name of namespaces) {
    const namespace = {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: randomUUID() } },
      ...{ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
    };
    yield record(Namespace, namespace);
  }
  for (let index = 0; index < deployments; index++) {
    const deployment = aDeployment(namespaces[index % namespaces.length] ?? '', `web-${index}`, pods);
    const replicaSet = aReplicaSet(deployment, pods);
    yield record(Deployment, deployment);
    yield record(ReplicaSet, replicaSet);
    for (let pod = 0; pod < pods; pod++) {
      yield record(
        Pod,
        podOfSet(replicaSet, pod, {
          nodeName: `node-${pod % nodes}`,
          startedAt: secondsLater(index * pods + pod),
        }),
      );
    }
  }
}

function record(type: ResourceType, object: KubernetesObject): StorageRecord {
  const { name, namespace = '' } = object.metadata;
  return { key: { resource: qualifiedResource(type), namespace, name }, object };
}

type Labels = Record<string, string>;

function aDeployment(namespace: string, name: string, replicas: number) {
  const labels = { app: name };
  const counts = {
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(name, labels, 'kubectl-create', {
      namespace,
      generation: 1,
      annotations: { 'deployment.kubernetes.io/revision': '1' },
    }),
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: template(labels),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
    status: {
      ...{ observedGeneration: 1, ...counts },
      conditions: [
        progress('Available', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'),
        progress(
          'Progressing',
          'NewReplicaSetAvailable',
          `ReplicaSet "${name}-${hashOf(name)}" has successfully progressed.`,
        ),
      ],
    },
  };
}

/** No two templates are alike, so neither are their hashes; ten characters. */
function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 10);
}

function aReplicaSet(deployment: ReturnType<typeof aDeployment>, replicas: number) {
  const { name, namespace, uid } = deployment.metadata;
  const labels = { app: name, 'pod-template-hash': hashOf(name) };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: metadata(`${name}-${hashOf(name)}`, labels, 'rollkeeper', {
      namespace,
      generation: 1,
      annotations: {
        'deployment.kubernetes.io/desired-replicas': String(replicas),
        'deployment.kubernetes.io/max-replicas': String(Math.ceil(replicas * 1.25)),
        'deployment.kubernetes.io/revision': '1',
      },
      ownerReferences: [owner('apps/v1', 'Deployment', name, uid)],
    }),
    spec: { replicas, selector: { matchLabels: labels }, template: template(labels) },
    status: {
      ...{ replicas, fullyLabeledReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas },
      observedGeneration: 1,
    },
  };
}

function podOfSet(
  replicaSet: ReturnType<typeof aReplicaSet>,
  index: number,
  { nodeName, startedAt }: { nodeName: string; startedAt: string },
) {
  const { labels, name, namespace, uid } = replicaSet.metadata;
  const { spec } = template(labels);
  const volume = `kube-api-access-${index}x7z`;
  const mount = { name: volume, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadata(`${name}-p${index}c${randomUUID().slice(0, 4)}`, labels, 'rollkeeper', {
      namespace,
      generateName: `${name}-`,
      ownerReferences: [owner('apps/v1', 'ReplicaSet', name, uid)],
    }),
    spec: {
      ...spec,
      nodeName,
      serviceAccountName: 'default',
      serviceAccount: 'default',
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      enableServiceLinks: true,
      containers: spec.containers.map((container) => ({ ...container, volumeMounts: [mount] })),
      volumes: [{ name: volume, projected: { defaultMode: 420, sources: TOKEN_SOURCES } }],
      tolerations: ['not-ready', 'unreachable'].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        ...{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      })),
    },
    status: podStatus(index, startedAt),
  };
}

const TOKEN_SOURCES = [
  { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  {
    downwardAPI: {
      items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
    },
  },
];

function podStatus(index: number, startedAt: string) {
  const readyAt = secondsLater(3, startedAt);
  const condition = (lastTransitionTime: string) => (type: string) => ({
    ...{ type, status: 'True', lastProbeTime: null, lastTransitionTime },
  });
  const ip = `10.${index % 250}.${index % 199}.7`;
  return {
    phase: 'Running',
    conditions: [
      ...['PodScheduled', 'Initialized'].map(condition(startedAt)),
      ...['PodReadyToStartContainers', 'ContainersReady', 'Ready'].map(condition(readyAt)),
    ],
    ...{
      hostIP: '10.0.0.1',
      hostIPs: [{ ip: '10.0.0.1' }],
      podIP: ip,
      podIPs: [{ ip }],
      startTime: startedAt,
    },
    containerStatuses: [
      {
        ...{
          name: 'web',
          state: { running: { startedAt: readyAt } },
          lastState: {},
          ready: true,
          restartCount: 0,
        },
        image: 'docker.io/library/nginx:1.27.3',
        imageID:
          'docker.io/library/nginx@sha256:fb197595ebe76b9c0c14ab68159fd3c08bd067ec62300583543f0ebda353b5be',
        containerID: `containerd://${randomUUID().replaceAll('-', '').repeat(2)}`,
        started: true,
      },
    ],
    qosClass: 'Burstable',
  };
}

function template(labels: Labels) {
  const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  return {
    metadata: { labels },
    spec: {
      containers: [
        {
          name: 'web',
          image: 'nginx:1.27.3',
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env: ['LOG_LEVEL', 'REGION', 'DATABASE_URL'].map((name) => ({
            name,
            value: `${name}-of-the-service`,
          })),
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          readinessProbe: { httpGet: { path: '/ready', port: 'http', scheme: 'HTTP' }, ...probe },
          livenessProbe: { httpGet: { path: '/live', port: 'http', scheme: 'HTTP' }, ...probe },
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
    },
  };
}

/** Its managed fields come last, as where a server writes them. */
function metadata(
  name: string,
  labels: Labels,
  manager: string,
  more: Partial<KubernetesObject['metadata']> = {},
) {
  const fields = {
    'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
    'f:spec': { 'f:replicas': {}, 'f:template': {} },
  };
  const entry = {
    operation: 'Update',
    apiVersion: 'v1',
    time: CREATED,
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
  };
  return {
    ...{ name, uid: randomUUID(), creationTimestamp: CREATED, labels, ...more },
    managedFields: [
      { manager, ...entry },
      { manager: 'kubelet', ...entry, subresource: 'status' },
    ],
  };
}

function owner(apiVersion: string, kind: string, name: string, uid: string) {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function progress(type: string, reason: string, message: string) {
  return { type, status: 'True', lastUpdateTime: CREATED, lastTransitionTime: CREATED, reason, message };
}

function secondsLater(seconds: number, time = CREATED): string {
  return toRfc3339(Date.parse(time) + seconds * 1000);
}
