import type { Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';

const NAME = 'rollkeeper-doctor';
const LABELS = { 'app.kubernetes.io/name': NAME };

/**
 * The objects that a rollout would write, for a dry run: pods of the restricted Pod Security Standard with requests and
 * limits, so that a refusal is about more than those.
 */
export function trialObjects(namespace: string): {
  readonly deployment: Deployment;
  readonly replicaSet: ReplicaSet;
  readonly pod: Pod;
} {
  const metadata = { name: NAME, namespace, labels: LABELS };
  const amounts = { cpu: '10m', memory: '16Mi' };
  const spec = {
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' as const },
    },
    containers: [
      {
        name: 'main',
        image: 'registry.k8s.io/pause:3.10',
        resources: { requests: amounts, limits: amounts },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  };
  const workload = {
    replicas: 1,
    selector: { matchLabels: LABELS },
    template: { metadata: { labels: LABELS }, spec },
  };
  return {
    deployment: { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: workload },
    replicaSet: { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: workload },
    pod: { apiVersion: 'v1', kind: 'Pod', metadata, spec },
  };
}
