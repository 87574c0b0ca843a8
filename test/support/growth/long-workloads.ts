import type { ManifestObject } from '../../../src/testing/cluster/manifests.js';

type Fields = Readonly<Record<string, unknown>>;

/** Objects that controllers, the scheduler and nodes work with, with one list of so many entries. */
export type LongWorkload = (length: number) => ManifestObject[];

const LABELS = { app: 'long' };
const NAMESPACE = 'default';

const times = <T>(length: number, item: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => item(index));
const mapOf = (length: number, value: (index: number) => unknown): Fields =>
  Object.fromEntries(times(length, (index) => [`example.com/k${index}`, value(index)]));
const expressions = (length: number) =>
  times(length, (index) => ({ key: `k${index}`, operator: 'NotIn', values: ['x'] }));
const container = (fields: Fields = {}) => ({ name: 'c', image: 'nginx:1', ...fields });
const podTerm = (index: number) => ({
  topologyKey: 'kubernetes.io/hostname',
  labelSelector: { matchLabels: { app: `other-${index}` } },
});

function object(apiVersion: string, kind: string, fields: Fields, metadata: Fields = {}): ManifestObject {
  const whole = {
    apiVersion,
    kind,
    metadata: { name: 'long', namespace: NAMESPACE, ...metadata },
    ...fields,
  };
  return whole;
}

function deployment(spec: Fields, metadata: Fields = {}): ManifestObject[] {
  const template = {
    metadata: { labels: LABELS, ...metadata },
    spec: { containers: [container()], ...spec },
  };
  return [
    object('apps/v1', 'Deployment', { spec: { replicas: 2, selector: { matchLabels: LABELS }, template } }),
  ];
}

function podAffinity(sort: 'podAffinity' | 'podAntiAffinity', isRequired: boolean): LongWorkload {
  return (length) => {
    const terms = isRequired
      ? { requiredDuringSchedulingIgnoredDuringExecution: times(length, podTerm) }
      : {
          preferredDuringSchedulingIgnoredDuringExecution: times(length, (index) => ({
            weight: 1,
            podAffinityTerm: podTerm(index),
          })),
        };
    return deployment({ affinity: { [sort]: terms } });
  };
}

function nodeAffinity(terms: (length: number) => Fields): LongWorkload {
  return (length) => deployment({ affinity: { nodeAffinity: terms(length) } });
}

const ofContainer =
  (fields: (length: number) => Fields): LongWorkload =>
  (length) =>
    deployment({ containers: [container(fields(length))] });

const configMap = (name: string, data: Fields = { a: 'b' }) => object('v1', 'ConfigMap', { data }, { name });

/** The parts of which a pod's template may have many. */
const OF_PODS: Readonly<Record<string, LongWorkload>> = {
  tolerations: (length) =>
    deployment({ tolerations: times(length, (index) => ({ key: `k${index}`, operator: 'Exists' })) }),
  'tolerations with seconds': (length) =>
    deployment({
      tolerations: times(length, (index) => ({
        ...{ key: `k${index}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
      })),
    }),
  'spread constraints': (length) =>
    deployment({
      topologySpreadConstraints: times(length, (index) => ({
        ...{ maxSkew: 1, topologyKey: `k${index}`, whenUnsatisfiable: 'ScheduleAnyway' },
        labelSelector: { matchLabels: LABELS },
      })),
    }),
  'required pod affinity': podAffinity('podAffinity', true),
  'preferred pod affinity': podAffinity('podAffinity', false),
  'required pod anti-affinity': podAffinity('podAntiAffinity', true),
  'preferred pod anti-affinity': podAffinity('podAntiAffinity', false),
  'node selector terms': nodeAffinity((length) => ({
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: times(length, () => ({ matchExpressions: expressions(1) })),
    },
  })),
  'expressions of a node selector term': nodeAffinity((length) => ({
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: expressions(length) }],
    },
  })),
  'preferred nodes': nodeAffinity((length) => ({
    preferredDuringSchedulingIgnoredDuringExecution: times(length, () => ({
      weight: 1,
      preference: { matchExpressions: expressions(1) },
    })),
  })),
  'labels of a template': (length) =>
    deployment({}, { labels: { ...LABELS, ...mapOf(length, (index) => `v${index}`) } }),
  'annotations of a template': (length) =>
    deployment({}, { annotations: mapOf(length, (index) => `v${index}`) }),
  'node selector': (length) => deployment({ nodeSelector: mapOf(length, () => 'v') }),
  'image pull secrets': (length) =>
    deployment({ imagePullSecrets: times(length, (index) => ({ name: `s${index}` })) }),
  'host aliases': (length) =>
    deployment({
      hostAliases: times(length, (index) => ({ ip: `10.0.${index >> 8}.${index & 255}`, hostnames: ['h'] })),
    }),
  'readiness gates': (length) =>
    deployment({ readinessGates: times(length, (index) => ({ conditionType: `example.com/g${index}` })) }),
  containers: (length) =>
    deployment({ containers: times(length, (index) => ({ name: `c${index}`, image: `i${index}` })) }),
  'init containers': (length) =>
    deployment({ initContainers: times(length, (index) => ({ name: `i${index}`, image: 'i' })) }),
  environment: ofContainer((length) => ({
    env: times(length, (index) => ({ name: `E${index}`, value: 'x' })),
  })),
  'environment from a ConfigMap': (length) => [
    configMap('all', Object.fromEntries(times(length, (index) => [`k${index}`, 'v']))),
    ...ofContainer(() => ({
      env: times(length, (index) => ({
        name: `E${index}`,
        valueFrom: { configMapKeyRef: { name: 'all', key: `k${index}` } },
      })),
    }))(length),
  ],
  'environment from all of a ConfigMap': (length) => [
    configMap('all'),
    ...ofContainer(() => ({ envFrom: times(length, () => ({ configMapRef: { name: 'all' } })) }))(length),
  ],
  ports: ofContainer((length) => ({ ports: times(length, (index) => ({ containerPort: index + 1 })) })),
  'host ports': ofContainer((length) => ({
    ports: times(length, (index) => ({ containerPort: index + 1, hostPort: index + 1 })),
  })),
  arguments: ofContainer((length) => ({ args: times(length, (index) => `$(A${index})`) })),
  'resources of a container': ofContainer((length) => ({
    resources: { limits: mapOf(length, () => '0'), requests: mapOf(length, () => '0') },
  })),
  'volumes and mounts': (length) =>
    deployment({
      volumes: times(length, (index) => ({ name: `v${index}`, emptyDir: {} })),
      containers: [
        container({
          volumeMounts: times(length, (index) => ({ name: `v${index}`, mountPath: `/m${index}` })),
        }),
      ],
    }),
  'volumes of ConfigMaps': (length) => [
    configMap('all'),
    ...deployment({ volumes: times(length, (index) => ({ name: `v${index}`, configMap: { name: 'all' } })) }),
  ],
  'volumes of claims': (length) =>
    deployment({
      volumes: times(length, (index) => ({
        name: `v${index}`,
        persistentVolumeClaim: { claimName: `c${index}` },
      })),
    }),
  'projected sources': (length) => [
    configMap('all'),
    ...deployment({
      volumes: [{ name: 'v', projected: { sources: times(length, () => ({ configMap: { name: 'all' } })) } }],
    }),
  ],
};

/** The parts of which other objects may have many. */
const OF_OTHERS: Readonly<Record<string, LongWorkload>> = {
  owners: (length) => [
    object(
      'v1',
      'ConfigMap',
      {},
      {
        ownerReferences: times(length, (index) => ({
          ...{ apiVersion: 'v1', kind: 'ConfigMap', name: `o${index}`, uid: `u${index}` },
        })),
      },
    ),
  ],
  finalizers: (length) => [
    object(
      'v1',
      'ConfigMap',
      {},
      { annotations: mapOf(length, () => 'v'), labels: mapOf(length, () => 'v') },
    ),
  ],
  'ports of a Service': (length) => [
    ...deployment({}),
    object('v1', 'Service', {
      spec: {
        selector: LABELS,
        ports: times(length, (index) => ({ name: `p${index}`, port: index + 1, targetPort: `t${index}` })),
      },
    }),
  ],
  'a Service with a long selector': (length) => [
    object('v1', 'Service', { spec: { selector: mapOf(length, () => 'v'), ports: [{ port: 80 }] } }),
  ],
  'expressions of a Deployment': (length) => [
    object('apps/v1', 'Deployment', {
      spec: {
        replicas: 2,
        selector: { matchLabels: LABELS, matchExpressions: expressions(length) },
        template: { metadata: { labels: LABELS }, spec: { containers: [container()] } },
      },
    }),
  ],
  'templates of claims': (length) => [
    object('apps/v1', 'StatefulSet', {
      spec: {
        ...{ replicas: 1, serviceName: 's', selector: { matchLabels: LABELS } },
        template: { metadata: { labels: LABELS }, spec: { containers: [container()] } },
        volumeClaimTemplates: times(Math.ceil(length / 20), (index) => ({
          metadata: { name: `v${index}` },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        })),
      },
    }),
  ],
  'hard limits of a quota': (length) => [
    object('v1', 'ResourceQuota', {
      spec: { hard: Object.fromEntries(times(length, (index) => [`count/k${index}.example.com`, '1'])) },
    }),
    ...deployment({}),
  ],
  'metrics of an autoscaler': (length) => [
    ...deployment({}),
    object('autoscaling/v2', 'HorizontalPodAutoscaler', {
      spec: {
        ...{ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'long' }, maxReplicas: 3 },
        metrics: times(length, (index) => ({
          type: 'External',
          external: { metric: { name: `m${index}` }, target: { type: 'Value', value: '1' } },
        })),
      },
    }),
  ],
  'rules of a pod failure policy': (length) => [
    object('batch/v1', 'Job', {
      spec: {
        podFailurePolicy: {
          rules: times(Math.min(length, 20), (index) => ({
            action: 'Ignore',
            onExitCodes: { operator: 'In', values: times(Math.min(length, 255), (code) => code + 1 + index) },
          })),
        },
        template: { spec: { restartPolicy: 'Never', containers: [container()] } },
      },
    }),
  ],
  'subsets of Endpoints': (length) => [
    object('v1', 'Endpoints', {
      subsets: times(Math.ceil(length / 50), (subset) => ({
        addresses: times(50, (index) => ({ ip: `10.1.${subset}.${index}` })),
        ports: [{ port: subset + 1 }],
      })),
    }),
  ],
};

export const LONG_WORKLOADS: Readonly<Record<string, LongWorkload>> = { ...OF_PODS, ...OF_OTHERS };
