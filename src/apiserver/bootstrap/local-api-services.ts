import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/** Priorities of groups and of their versions, by which clients choose among them. Source: pkg/controlplane/apiserver/aggregator.go. */
const PRIORITIES: readonly (readonly [group: string, version: string, group: number, version: number])[] = [
  ['', 'v1', 18_000, 1],
  ['apps', 'v1', 17_800, 15],
  ['events.k8s.io', 'v1', 17_750, 15],
  ['authentication.k8s.io', 'v1', 17_700, 15],
  ['authorization.k8s.io', 'v1', 17_600, 15],
  ['autoscaling', 'v1', 17_500, 15],
  ['autoscaling', 'v2', 17_500, 30],
  ['batch', 'v1', 17_400, 15],
  ['certificates.k8s.io', 'v1', 17_300, 15],
  ['networking.k8s.io', 'v1', 17_200, 15],
  ['policy', 'v1', 17_100, 15],
  ['rbac.authorization.k8s.io', 'v1', 17_000, 15],
  ['storage.k8s.io', 'v1', 16_800, 15],
  ['admissionregistration.k8s.io', 'v1', 16_700, 15],
  ['apiextensions.k8s.io', 'v1', 16_700, 15],
  ['scheduling.k8s.io', 'v1', 16_600, 15],
  ['coordination.k8s.io', 'v1', 16_500, 15],
  ['node.k8s.io', 'v1', 16_300, 15],
  ['discovery.k8s.io', 'v1', 16_200, 15],
  ['resource.k8s.io', 'v1', 16_200, 20],
  ['flowcontrol.apiserver.k8s.io', 'v1', 16_100, 21],
];

/** The built-in groups, as a genuine server registers them with itself. */
export const LOCAL_API_SERVICES: readonly UnstructuredObject[] = PRIORITIES.map(
  ([group, version, groupPriorityMinimum, versionPriority]) => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: {
      name: `${version}.${group}`,
      labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' },
    },
    spec: { ...(group !== '' && { group }), version, groupPriorityMinimum, versionPriority },
  }),
);
