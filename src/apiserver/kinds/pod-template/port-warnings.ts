import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { Container, ContainerPort } from '@rollkeeper/machinery/types/core-v1';

/** A container, and the path of its field, for example `spec.initContainers[0]`. */
export interface PlacedContainer {
  readonly container: Decoded<Container>;
  readonly at: string;
}

interface PlacedPort {
  readonly port: Decoded<ContainerPort>;
  readonly at: string;
}

/** Warns of doubtful ports of all containers of a pod. Source: pkg/api/pod/warnings.go. */
export function portWarnings(containers: readonly PlacedContainer[]): string[] {
  const ports = containers.flatMap(({ container, at }) =>
    (container.ports ?? []).map((port, index) => ({ port, at: `${at}.ports[${index}]` })),
  );
  return [...numberWarnings(ports), ...nameWarnings(ports)];
}

function numberWarnings(ports: readonly PlacedPort[]): string[] {
  const seen = new Map<string, PlacedPort[]>();
  return ports.flatMap((placed) => {
    const { containerPort, protocol = 'TCP' } = placed.port;
    const key = `${containerPort}/${protocol}`;
    const others = seen.get(key);
    if (!others) {
      seen.set(key, [placed]);
      return [];
    }
    seen.set(key, [...others, placed]);
    return others.flatMap((other) => {
      const verdict = clash(placed.port, other.port);
      return verdict === undefined ? [] : [`${placed.at}: ${verdict} port definition with ${other.at}`];
    });
  });
}

/** How two definitions of the same port of a pod get in each other's way. */
function clash(one: Decoded<ContainerPort>, other: Decoded<ContainerPort>): string | undefined {
  const [ip, otherIp] = [one.hostIP ?? '', other.hostIP ?? ''];
  const [port, otherPort] = [one.hostPort ?? 0, other.hostPort ?? 0];
  if (ip === otherIp && port === otherPort) return 'duplicate';
  if (port === 0 || otherPort === 0) return 'overlapping';
  if (port === otherPort && (ip === '') !== (otherIp === '')) return 'dangerously ambiguous';
  return undefined;
}

function nameWarnings(ports: readonly PlacedPort[]): string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ at, port: { name } }) => {
    if (!name) return [];
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, at);
      return [];
    }
    const effect = `services and probes that select ports by name will use ${other}`;
    return [`${at}: duplicate port name ${JSON.stringify(name)} with ${other}, ${effect}`];
  });
}
