import { aTemplate } from '../seeds/index.js';

/** Every sample is named like this. */
export const SAMPLE_NAME = 'sample';

const labels = { app: SAMPLE_NAME };
const workload = { selector: { matchLabels: labels }, template: aTemplate(SAMPLE_NAME, rich()) };

/** The parts of a pod with lists and maps of every sort that is merged in a way of its own. */
function rich(): object {
  return {
    containers: [
      {
        name: 'c',
        image: 'i:1',
        args: ['a', 'b'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        ports: [{ containerPort: 80, name: 'http' }],
        resources: { limits: { cpu: '100m', memory: '1Gi' }, requests: { cpu: '50m' } },
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
        readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 },
      },
    ],
    volumes: [{ name: 'v', csi: { driver: 'd', volumeAttributes: { a: 'b' } } }],
    tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
    nodeSelector: { disk: 'ssd' },
  };
}

/** The fields that a kind needs beyond its name to be accepted; kinds that need nothing have no entry. */
const BODIES: Readonly<Record<string, object>> = {
  'v1/Pod': { spec: rich() },
  'v1/Event': { involvedObject: { namespace: 'fuzz', name: 'x' }, reason: 'Fuzz', message: 'm' },
  'apps/v1/Deployment': { spec: { ...workload, strategy: { rollingUpdate: { maxSurge: '30%' } } } },
  'apps/v1/ReplicaSet': { spec: workload },
  'apps/v1/StatefulSet': { spec: { ...workload, serviceName: 's' } },
  'apps/v1/DaemonSet': { spec: workload },
  'batch/v1/Job': { spec: { template: aTemplate(SAMPLE_NAME, { restartPolicy: 'Never' }) } },
  'batch/v1/CronJob': {
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: aTemplate(SAMPLE_NAME, { restartPolicy: 'Never' }) } },
    },
  },
  'v1/Service': { spec: { ports: [{ name: 'http', port: 80 }], selector: labels } },
  'v1/ConfigMap': { data: { a: '1', constructor: '2' } },
  'v1/Secret': { data: { a: 'MQ==' } },
  'coordination.k8s.io/v1/Lease': { spec: { holderIdentity: 'h', leaseDurationSeconds: 5 } },
};

/** An object of the kind that a server should take. */
export function sampleOf(apiVersion: string, kind: string): object {
  return {
    apiVersion,
    kind,
    metadata: {
      name: SAMPLE_NAME,
      labels,
      annotations: { a: 'b', constructor: 'c' },
      finalizers: ['example.com/keep'],
    },
    ...BODIES[`${apiVersion}/${kind}`],
  };
}
