import { ReplicaSet, Service, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';

/** The ports of a Service of an experiment. */
export type ServicePorts = NonNullable<Service['spec']['ports']>;
type Port = DeepReadonly<ServicePorts[number]>;

/** The ports that the containers of a template name, each once. */
export function portsOfContainers({ spec }: DeepReadonly<PodTemplateSpec>): ServicePorts {
  const ports = (spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  return distinctPorts(
    ports.map(({ containerPort, name, protocol }) => ({
      ...(name !== undefined && { name }),
      ...{ port: containerPort, targetPort: containerPort },
      ...(protocol !== undefined && { protocol }),
    })),
  );
}

/**
 * The ports of several sources as those of one Service: of the same number and protocol the first alone, each with a name that no other
 * one has, as an API server demands.
 */
export function distinctPorts(ports: readonly Port[]): ServicePorts {
  const distinct = new Map<string, ServicePorts[number]>();
  const names = new Set<string>();
  for (const port of ports) {
    const protocol = port.protocol ?? 'TCP';
    const key = `${protocol}/${port.port}`;
    if (distinct.has(key)) continue;
    const name = freeName(
      names,
      port.name,
      `port-${port.port}`,
      `port-${port.port}-${protocol.toLowerCase()}`,
    );
    names.add(name);
    distinct.set(key, { ...port, name });
  }
  return [...distinct.values()];
}

function freeName(taken: ReadonlySet<string>, wanted: string | undefined, ...others: string[]): string {
  const free = [wanted, ...others].find((name) => name !== undefined && !taken.has(name));
  if (free !== undefined) return free;
  let number = 1;
  while (taken.has(`port-${number}`)) number++;
  return `port-${number}`;
}

/**
 * The Service of one version of an experiment: it selects the pods of its ReplicaSet alone, belongs to it, and goes with it.
 * @param name default: the name of the ReplicaSet
 */
export function experimentService(
  member: DeepReadonly<Pick<ReplicaSet, 'metadata'>>,
  ports: ServicePorts,
  name = member.metadata.name,
): Service {
  const { labels, name: owner, namespace, uid = '' } = member.metadata;
  return {
    apiVersion: apiVersionOf(Service),
    kind: Service.kind,
    metadata: {
      ...{ name, namespace, labels: { ...labels } },
      ownerReferences: [{ apiVersion: apiVersionOf(ReplicaSet), kind: ReplicaSet.kind, name: owner, uid }],
    },
    spec: { selector: { ...labels }, ports },
  };
}
