import type { ResourceType } from '../../../src/machinery/kubernetes/index.js';

/** Something that an operator meets, and what has to be said of it. */
export interface Situation {
  /** In plain words; the row of docs/SITUATIONS.md. */
  readonly what: string;
  /** The namespace that a situation has for itself, so that none helps or hides another. */
  readonly namespace: string;
  /** Objects to be created, in this order. `namespace` is added where they name none. */
  readonly objects?: readonly Sketch[];
  /** kubectl commands afterwards, `-n NAMESPACE` added; that they fail is part of some. */
  readonly kubectl?: readonly (readonly string[])[];
  /** The object that is explained: `statefulset/db`. */
  readonly object: string;
  readonly cause: string;
  /** In the summary of the finding. */
  readonly says: RegExp;
  /** In what would help. */
  readonly helps: RegExp;
  /** Whether `rollkeeper problems` lists it: what is as it was asked for is no problem. @default true */
  readonly isProblem?: boolean;
}

export interface Sketch {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string };
  readonly [field: string]: unknown;
}

/** A type for the path of a sketch, without discovery. */
export type SketchTypes = ReadonlyMap<string, ResourceType>;

/** A certificate of January 2020, as a caBundle. */
const ENDED_AUTHORITY = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJEekNCdDZBREFnRUNBZ0VCTUFvR0NDcUdTTTQ5QkFNQ01CQXhEakFN',
  'QmdOVkJBTVRCV1Z1WkdWa01CNFgKRFRJd01ERXdNVEF3TURBd01Gb1hEVEl3TURJd01UQXdNREF3TUZvd0VERU9NQXdHQTFV',
  'RUF4TUZaVzVrWldRdwpXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBU2JWWlFxWG1wdjhXZWY1c0NkemV2Mksz',
  'TjRadktTClVXK3hxdlhSeXlCTkc2cHRUbFlOUHlQSi8yeDJ2Q3IvL0VyVXo5QWphRXRFUTd2Z3AzbjdPV1JVb3dJd0FEQUsK',
  'QmdncWhrak9QUVFEQWdOSEFEQkVBaUJCY2R2aFM1TndwbVd1ci9yZERJZ0x5YVljZWptMkZkTHJqeE4rSkJsWQpVd0lnV1F1',
  'RG1HcEwvdE9XOHh4a1lyUnJ6aEEzZ0Vob1h5Z2Uxekx1Z1dzMWFVST0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQ==',
].join('');

const BEHAVIOUR = 'node.rollkeeper.dev/behaviour';

function template(app: string, annotations: Record<string, string> = {}, spec: object = {}): object {
  return {
    metadata: { labels: { app }, annotations },
    spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
  };
}

function deployment(
  app: string,
  annotations: Record<string, string> = {},
  spec: object = {},
  more = {},
): Sketch {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: app } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app } },
      template: template(app, annotations, spec),
      ...more,
    },
  };
}

/** A Deployment with the labels of another one, and one more. */
function overlapping(app: string, name: string): Sketch {
  const labels = { app, track: name };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { ...template(app), metadata: { labels } },
    },
  };
}

/** A pod that no controller has. */
function alone(name: string, spec: object): Sketch {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
    spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
  };
}

function statefulSet(app: string, annotations: Record<string, string>, more: object = {}): Sketch {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: app } },
    spec: {
      replicas: 2,
      serviceName: app,
      selector: { matchLabels: { app } },
      template: template(app, annotations),
      ...more,
    },
  };
}

function job(name: string, more: object, annotations: Record<string, string> = {}): Sketch {
  const { metadata, spec } = template(name, annotations, { restartPolicy: 'Never' }) as {
    metadata: object;
    spec: object;
  };
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } },
    spec: { template: { metadata, spec }, ...more },
  };
}

function claim(name: string, spec: object): Sketch {
  return {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  };
}

function budget(app: string, spec: object): Sketch {
  return {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: app } },
    spec: { selector: { matchLabels: { app } }, ...spec },
  };
}

function autoscaler(app: string): Sketch {
  return {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: app } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: app },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
        },
      ],
    },
  };
}

const quota: Sketch = {
  ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'small' } },
  spec: { hard: { pods: '0' } },
};

/** The situations that are tried: each is created in a cluster that runs, and looked for ten seconds at most. */
export const SITUATIONS: readonly Situation[] = [
  {
    what: 'a Deployment whose image cannot be pulled',
    namespace: 'image',
    objects: [deployment('web', { [BEHAVIOUR]: 'image-pull-error' })],
    object: 'deployment/web',
    cause: 'image-pull',
    says: /cannot be pulled/,
    helps: /correct the image/,
  },
  {
    what: 'a Deployment whose container crashes',
    namespace: 'crash',
    objects: [deployment('web', { [BEHAVIOUR]: 'crash-loop' })],
    object: 'deployment/web',
    cause: 'crash-loop',
    says: /keeps ending/,
    helps: /kubectl logs --previous/,
  },
  {
    what: 'a Deployment whose pods fit on no node',
    namespace: 'full',
    objects: [deployment('web', {}, { nodeSelector: { gpu: 'yes' } })],
    object: 'deployment/web',
    cause: 'unschedulable',
    says: /node affinity\/selector/,
    helps: /label that the template asks for/,
  },
  {
    what: 'a pod that fits on no node, by itself',
    namespace: 'lonely',
    objects: [
      {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'big' } },
        spec: { containers: [{ name: 'c', image: 'a:1', resources: { requests: { cpu: '5000' } } }] },
      },
    ],
    object: 'pod/big',
    cause: 'unschedulable',
    says: /Insufficient cpu/,
    helps: /add nodes|request less/,
  },
  {
    what: 'a Deployment that a quota keeps from making pods',
    namespace: 'quota',
    objects: [quota, deployment('web')],
    object: 'deployment/web',
    cause: 'quota',
    says: /exceeded quota: small/,
    helps: /raise the ResourceQuota/,
  },
  {
    what: 'a StatefulSet that a quota keeps from making pods',
    namespace: 'quota-set',
    objects: [quota, statefulSet('db', {})],
    object: 'statefulset/db',
    cause: 'quota',
    says: /exceeded quota: small/,
    helps: /raise the ResourceQuota/,
  },
  {
    what: 'a StatefulSet whose first pod is not ready, so that the next is not made',
    namespace: 'ordered',
    objects: [statefulSet('db', { [BEHAVIOUR]: 'image-pull-error' })],
    object: 'statefulset/db',
    cause: 'image-pull',
    says: /pod db-0/,
    helps: /correct the image/,
  },
  {
    what: 'a StatefulSet whose claim names a class that is not there',
    namespace: 'class',
    objects: [
      statefulSet(
        'db',
        {},
        {
          volumeClaimTemplates: [
            { metadata: { name: 'data' }, spec: claim('x', { storageClassName: 'fast' })['spec'] },
          ],
        },
      ),
    ],
    object: 'statefulset/db',
    cause: 'claim-pending',
    says: /there is no StorageClass fast/,
    helps: /a StorageClass fast/,
  },
  {
    what: 'a claim for a class that is not there',
    namespace: 'claim',
    objects: [claim('data', { storageClassName: 'nope' })],
    object: 'pvc/data',
    cause: 'claim-pending',
    says: /there is no StorageClass nope/,
    helps: /claim of one that exists/,
  },
  {
    what: 'a claim for a volume that is not there',
    namespace: 'volume',
    objects: [claim('data', { storageClassName: '', volumeName: 'gone' })],
    object: 'pvc/data',
    cause: 'claim-pending',
    says: /there is no PersistentVolume gone/,
    helps: /PersistentVolume gone/,
  },
  {
    what: 'a claim that is deleted while a pod uses it',
    namespace: 'in-use',
    objects: [
      claim('data', {}),
      {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user' } },
        spec: {
          containers: [{ name: 'c', image: 'a:1' }],
          volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
        },
      },
    ],
    kubectl: [['delete', 'pvc', 'data', '--wait=false']],
    object: 'pvc/data',
    cause: 'claim-in-use',
    says: /use it: user/,
    helps: /pods ending/,
  },
  {
    what: 'a DaemonSet that selects no node',
    namespace: 'no-node',
    objects: [
      {
        ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agent' } },
        spec: {
          selector: { matchLabels: { app: 'agent' } },
          template: template('agent', {}, { nodeSelector: { gpu: 'yes' } }),
        },
      },
    ],
    object: 'daemonset/agent',
    cause: 'no-node-selected',
    says: /nodeSelector/,
    helps: /labels on nodes/,
    isProblem: false,
  },
  {
    what: 'a DaemonSet that crashes on its nodes',
    namespace: 'agent',
    objects: [
      {
        ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agent' } },
        spec: {
          selector: { matchLabels: { app: 'agent' } },
          template: template('agent', { [BEHAVIOUR]: 'crash-loop' }),
        },
      },
    ],
    object: 'daemonset/agent',
    cause: 'crash-loop',
    says: /keeps ending/,
    helps: /kubectl logs --previous/,
  },
  {
    what: 'a Job that gave up',
    namespace: 'job',
    objects: [
      job(
        'migrate',
        { backoffLimit: 0 },
        { 'node.rollkeeper.dev/exit-code': '3', 'node.rollkeeper.dev/ends-after': '200ms' },
      ),
    ],
    object: 'job/migrate',
    cause: 'job-failed',
    says: /BackoffLimitExceeded/,
    helps: /kubectl logs/,
  },
  {
    what: 'a Job that ran out of time',
    namespace: 'late',
    objects: [job('slow', { activeDeadlineSeconds: 1 }, { 'node.rollkeeper.dev/ends-after': 'never' })],
    object: 'job/slow',
    cause: 'job-failed',
    says: /DeadlineExceeded/,
    helps: /activeDeadlineSeconds/,
  },
  {
    what: 'an autoscaler whose target has no requests',
    namespace: 'hpa',
    objects: [deployment('web'), autoscaler('web')],
    object: 'hpa/web',
    cause: 'autoscaler-without-metrics',
    says: /missing request for cpu/,
    helps: /resources\.requests/,
  },
  {
    what: 'an autoscaler whose target is not there',
    namespace: 'hpa-target',
    objects: [autoscaler('web')],
    object: 'hpa/web',
    cause: 'autoscaler-target',
    says: /no Deployment web/,
    helps: /another spec\.scaleTargetRef/,
  },
  {
    what: 'two autoscalers for one Deployment',
    namespace: 'hpa-twice',
    objects: [deployment('web'), autoscaler('web'), { ...autoscaler('web'), metadata: { name: 'web-2' } }],
    object: 'hpa/web-2',
    cause: 'autoscaler-overlap',
    says: /web and it scale the same/,
    helps: /one autoscaler for each target/,
  },
  {
    what: 'a Service without pods',
    namespace: 'service',
    objects: [
      {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
        spec: { selector: { app: 'typo' }, ports: [{ port: 80 }] },
      },
    ],
    object: 'service/web',
    cause: 'no-endpoints',
    says: /app=typo/,
    helps: /--show-labels/,
  },
  {
    what: 'a Service whose port no container has',
    namespace: 'port',
    objects: [
      deployment('web'),
      {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
        spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
      },
    ],
    object: 'service/web',
    cause: 'no-endpoints',
    says: /a port called http/,
    helps: /number as targetPort/,
  },
  {
    what: 'a budget that never lets a pod go, and a drain that waits for it',
    namespace: 'drain',
    objects: [
      deployment('web', {}, { nodeSelector: { 'kubernetes.io/hostname': 'node-2' } }),
      budget('web', { minAvailable: 1 }),
    ],
    kubectl: [
      ['rollout', 'status', 'deployment/web', '--timeout=30s'],
      ['drain', '-l', 'kubernetes.io/hostname=node-2', '--pod-selector=app=web', '--timeout=2s'],
    ],
    object: 'pdb/web',
    cause: 'pdb-never-allows',
    says: /never lets a pod go/,
    helps: /on-eviction: surge/,
  },
  {
    what: 'two budgets over the same pods',
    namespace: 'budgets',
    objects: [
      deployment('web'),
      budget('web', { maxUnavailable: 1 }),
      { ...budget('web', { maxUnavailable: 1 }), metadata: { name: 'web-2' } },
    ],
    kubectl: [['rollout', 'status', 'deployment/web', '--timeout=30s']],
    object: 'pdb/web',
    cause: 'pdb-overlap',
    says: /web-2 take the same pods/,
    helps: /one budget for each pod/,
  },
  {
    what: 'a namespace that a finalizer keeps from ending',
    namespace: 'leaving',
    objects: [
      {
        ...{ apiVersion: 'v1', kind: 'ConfigMap' },
        metadata: { name: 'held', finalizers: ['example.com/keep'] },
      },
    ],
    kubectl: [['delete', 'namespace', 'leaving', '--wait=false']],
    object: 'namespace/leaving',
    cause: 'namespace-finalizers',
    says: /example\.com\/keep/,
    helps: /owns example\.com\/keep/,
  },
  {
    what: 'a webhook whose server is not there',
    namespace: 'webhook',
    objects: [
      {
        ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
        metadata: { name: 'guard' },
        webhooks: [
          {
            name: 'guard.example.com',
            clientConfig: { service: { namespace: 'webhook', name: 'guard' } },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
            namespaceSelector: { matchLabels: { guarded: 'yes' } },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
    ],
    object: 'validatingwebhookconfiguration/guard',
    cause: 'webhook-unreachable',
    says: /no Service webhook\/guard/,
    helps: /failurePolicy: Ignore/,
  },
  {
    what: 'a webhook whose authority has ended',
    namespace: 'trust',
    objects: [
      {
        ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
        metadata: { name: 'trust' },
        webhooks: [
          {
            name: 'trust.example.com',
            clientConfig: { service: { namespace: 'trust', name: 'trust' }, caBundle: ENDED_AUTHORITY },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
            namespaceSelector: { matchLabels: { guarded: 'yes' } },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
    ],
    object: 'validatingwebhookconfiguration/trust',
    cause: 'certificate-ends',
    says: /ended at 2020-02-01T00:00:00Z: writes of secrets are refused/,
    helps: /renew its certificate/,
  },
  {
    what: 'a group of the API whose server is not there',
    namespace: 'group',
    objects: [
      {
        ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
        metadata: { name: 'v1.example.com' },
        spec: {
          ...{ group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 },
          service: { namespace: 'group', name: 'gone' },
          insecureSkipTLSVerify: true,
        },
      },
    ],
    object: 'apiservice/v1.example.com',
    cause: 'api-group-unavailable',
    says: /does not answer/,
    helps: /kubectl delete apiservice v1\.example\.com/,
  },
  {
    what: 'a definition whose conversion is not there',
    namespace: 'convert',
    objects: [
      {
        ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
        metadata: { name: 'things.convert.example.com' },
        spec: {
          group: 'convert.example.com',
          scope: 'Namespaced',
          names: { kind: 'Thing', plural: 'things' },
          versions: ['v1', 'v2'].map((name) => ({
            ...{ name, served: true, storage: name === 'v1' },
            schema: { openAPIV3Schema: { type: 'object' } },
          })),
          conversion: {
            strategy: 'Webhook',
            webhook: {
              conversionReviewVersions: ['v1'],
              clientConfig: { service: { namespace: 'convert', name: 'gone' } },
            },
          },
        },
      },
    ],
    object: 'customresourcedefinition/things.convert.example.com',
    cause: 'conversion-unreachable',
    says: /there is no Service convert\/gone; things of a version/,
    helps: /create Service convert\/gone/,
  },
  {
    what: 'a CronJob that never starts, such as on 31 February',
    namespace: 'never',
    objects: [
      {
        ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'never' } },
        spec: {
          schedule: '0 0 31 2 *',
          jobTemplate: { spec: { template: template('never', {}, { restartPolicy: 'Never' }) } },
        },
      },
    ],
    object: 'cronjob/never',
    cause: 'schedule-never',
    says: /never starts/,
    helps: /correct the day and the month/,
  },
  {
    what: 'a Deployment whose selector takes the pods of another one',
    namespace: 'overlap',
    objects: [deployment('web'), overlapping('web', 'canary')],
    object: 'deployment/web',
    cause: 'selector-conflict',
    says: /canary/,
    helps: /labels/,
  },
  {
    what: 'a Deployment with a policy that is not known',
    namespace: 'typo',
    objects: [
      {
        ...deployment('web'),
        metadata: { name: 'web', annotations: { 'rollkeeper.dev/bake-tme': '5m' } },
      },
    ],
    object: 'deployment/web',
    cause: 'invalid-policy',
    says: /bake-tme.*did you mean rollkeeper\.dev\/bake-time\?$/m,
    helps: /annotation/,
  },
  {
    what: 'a Service that is deleted, and that a finalizer holds',
    namespace: 'held',
    objects: [
      {
        ...{
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'held', finalizers: ['example.com/hold'] },
        },
        spec: { ports: [{ port: 80 }] },
      },
    ],
    kubectl: [['delete', 'service', 'held', '--wait=false']],
    object: 'service/held',
    cause: 'finalizers',
    says: /held by 1 finalizer: example\.com\/hold/,
    helps: /the controller that owns example\.com\/hold/,
  },
  {
    what: 'a pod whose node selector no node has',
    namespace: 'label',
    objects: [alone('label', { nodeSelector: { disk: 'fast' } })],
    object: 'pod/label',
    cause: 'unschedulable',
    says: /node affinity\/selector/,
    helps: /kubectl label node/,
  },
  {
    what: 'a pod whose claim is not there',
    namespace: 'noclaim',
    objects: [
      alone('noclaim', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }),
    ],
    object: 'pod/noclaim',
    cause: 'unschedulable',
    says: /"data" not found/,
    helps: /create the PersistentVolumeClaim/,
  },
  {
    what: 'a node that was cordoned',
    namespace: 'cordon',
    kubectl: [['cordon', 'node-1']],
    object: 'node/node-1',
    cause: 'node-cordoned',
    says: /takes no new pods/,
    helps: /kubectl uncordon node-1/,
    isProblem: false,
  },
  {
    what: 'a node under memory pressure',
    namespace: 'pressure',
    objects: [
      {
        ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'pressed' } },
        status: {
          conditions: [
            { type: 'Ready', status: 'True', reason: 'KubeletReady' },
            { type: 'MemoryPressure', status: 'True', reason: 'KubeletHasInsufficientMemory' },
          ],
        },
      },
    ],
    object: 'node/pressed',
    cause: 'node-pressure',
    says: /short of memory/,
    helps: /memory limits/,
  },
  {
    what: 'a node whose kubelet was never heard of',
    namespace: 'silent',
    objects: [{ ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'silent' } } }],
    object: 'node/silent',
    cause: 'node-not-ready',
    says: /silent/,
    helps: /kubectl delete node silent/,
  },
];
