import type { Container } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { isSidecar } from '@rollkeeper/machinery/kubernetes';

type AnyPod = DecodedObject<Pod>;

/**
 * Keeps of an update of `resize` what that may change: resources and resize policies of containers, and resources of the pod as
 * a whole. Containers that were added, removed, renamed or moved stay, for validation to refuse them. Source:
 * podResizeStrategy in pkg/registry/core/pod/strategy.go.
 */
export function keepResize(pod: AnyPod, old: Readonly<AnyPod>): void {
  const [spec, before] = [pod.spec ?? {}, old.spec ?? {}];
  if (!hasAsMany(spec, before, 'containers') || !hasAsMany(spec, before, 'initContainers')) return;
  keepTheRest(pod, old);
  pod.spec = {
    ...before,
    ...(before.containers && { containers: resizedOnly(spec.containers, before.containers) }),
    ...(before.initContainers && { initContainers: resizedOnly(spec.initContainers, before.initContainers) }),
  };
  if (spec.resources) pod.spec.resources = spec.resources;
}

/** Keeps of an update of `ephemeralcontainers` that list. Source: podEphemeralContainersStrategy in the same file. */
export function keepEphemeralContainers(pod: AnyPod, old: Readonly<AnyPod>): void {
  const { ephemeralContainers } = pod.spec ?? {};
  keepTheRest(pod, old);
  pod.spec = { ...old.spec };
  if (ephemeralContainers) pod.spec.ephemeralContainers = ephemeralContainers;
  else delete pod.spec.ephemeralContainers;
}

/** Restores the fields that neither of them may touch. */
function keepTheRest(pod: AnyPod, old: Readonly<AnyPod>): void {
  pod.status = old.status;
  const { resourceVersion, uid } = pod.metadata;
  pod.metadata = { ...old.metadata, resourceVersion, uid };
}

function hasAsMany(
  spec: Decoded<PodSpec>,
  old: Decoded<PodSpec>,
  list: 'containers' | 'initContainers',
): boolean {
  return (spec[list]?.length ?? 0) === (old[list]?.length ?? 0);
}

function resizedOnly(
  containers: Decoded<Container>[] | undefined,
  old: Decoded<Container>[],
): Decoded<Container>[] | undefined {
  const isSameOrder = old.every(({ name }, index) => containers?.[index]?.name === name);
  if (!isSameOrder) return containers;
  return old.map((before, index) => {
    const { resources, resizePolicy } = containers?.[index] ?? {};
    const { resources: _resources, resizePolicy: _policy, ...rest } = before;
    return { ...rest, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });
}

/** Containers whose resources can be changed while their pod runs. */
export function isResizable(container: Decoded<Container>, list: 'containers' | 'initContainers'): boolean {
  return list === 'containers' || isSidecar(container);
}
