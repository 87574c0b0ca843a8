import { counted } from '@rollkeeper/machinery/text';
import { EndpointSlice, Service } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Node, Pod, isPodFinished, isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings, findingsOfPods, listed, readyEndpoints } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

type ReadableService = DeepReadonly<Service>;
type ReadablePod = DeepReadonly<Pod>;

/** Services: why one has no endpoints, or no address outside. */
export const serviceDiagnosis: KindDiagnosis<Service> = {
  type: Service,
  aliases: ['svc'],
  needs: (namespace) => [...inNamespace([Pod, EndpointSlice], namespace), { type: Node }],
  judge(service, snapshot, nowMs): Verdict {
    const { selector, type } = service.spec;
    const good = { state: 'healthy', sentence: sentenceOf(service, snapshot) } as const;
    const deletion = deletionFindings(service);
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    if (type === 'ExternalName') return { findings: [], good };
    return {
      good,
      findings: [
        ...(selector === undefined || Object.keys(selector).length === 0
          ? []
          : endpointFindings(service, snapshot, nowMs)),
        ...loadBalancerFindings(service),
      ],
    };
  },
};

function sentenceOf(service: ReadableService, snapshot: Snapshot): string {
  if (service.spec.type === 'ExternalName') return `an alias of ${service.spec.externalName ?? ''}`;
  return `${counted(readyEndpoints(snapshot, service.metadata), 'ready endpoint')}`;
}

function endpointFindings(service: ReadableService, snapshot: Snapshot, nowMs: number): DiagnosisFinding[] {
  const { namespace } = service.metadata;
  if (!snapshot.isKnown(Pod, namespace)) return [];
  const selector = Object.entries(service.spec.selector ?? {});
  const pods = snapshot
    .list<Pod>(Pod, namespace)
    .filter(
      (pod) => !isPodFinished(pod) && selector.every(([key, value]) => pod.metadata.labels?.[key] === value),
    );
  const asked = selector.map(([key, value]) => `${key}=${value}`).join(',');
  if (pods.length === 0)
    return [
      {
        cause: 'no-endpoints',
        severity: 'blocked',
        summary: `it has no endpoints: no pod has the labels ${asked}`,
        unblockedBy: [
          `create pods with these labels: kubectl get pods -n ${namespace} --show-labels`,
          'or change spec.selector',
        ],
      },
    ];
  const ready = pods.filter((pod) => isPodReady(pod));
  if (ready.length === 0 && service.spec.publishNotReadyAddresses !== true)
    return [
      {
        cause: 'no-endpoints',
        severity: 'blocked',
        summary: `it has no ready endpoints: none of its ${counted(pods.length, 'pod')} is ready`,
        unblockedBy: ['its pods becoming ready'],
      },
      ...findingsOfPods(pods, { snapshot, nowMs }),
    ];
  return portFindings(service, ready);
}

/** A port by name that no container has is left out of the endpoints without a word. */
function portFindings({ spec }: ReadableService, pods: readonly ReadablePod[]): DiagnosisFinding[] {
  const missing = (spec.ports ?? [])
    .map(({ targetPort }) => targetPort)
    .filter((port): port is string => typeof port === 'string' && !/^\d+$/.test(port))
    .filter((port) => !pods.some((pod) => portNames(pod).includes(port)));
  if (missing.length === 0) return [];
  return [
    {
      cause: 'no-endpoints',
      severity: 'blocked',
      summary: `no container of its pods has a port called ${listed(missing)}`,
      unblockedBy: ['set that name in containers[].ports[].name, or use a number as targetPort'],
    },
  ];
}

function portNames({ spec }: ReadablePod): readonly string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  return containers.flatMap(({ ports = [] }) => ports.flatMap(({ name }) => name ?? []));
}

function loadBalancerFindings({ metadata, spec, status }: ReadableService): DiagnosisFinding[] {
  if (spec.type !== 'LoadBalancer' || (status?.loadBalancer?.ingress ?? []).length > 0) return [];
  return [
    {
      cause: 'load-balancer-pending',
      severity: 'waits',
      summary: 'it has no external address yet (type LoadBalancer)',
      ...(metadata.creationTimestamp !== undefined && { since: metadata.creationTimestamp }),
      unblockedBy: [
        'check the load balancer of the cloud, or MetalLB: kubectl describe service shows its Events',
      ],
    },
  ];
}
