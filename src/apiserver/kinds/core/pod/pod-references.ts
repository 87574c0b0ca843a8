import type { Container, EnvFromSource, EnvVar, Volume } from '@rollkeeper/machinery/types/core-v1';
import { isMirrorPod } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';

/** An object that a pod names, in its namespace. */
interface PodReference {
  readonly resource:
    | 'secrets'
    | 'configmaps'
    | 'persistentvolumeclaims'
    | 'serviceaccounts'
    | 'resourceclaims.resource.k8s.io';
  readonly name: string;
}

/**
 * The objects that the kubelet of a pod's node has to read. A mirror pod names nothing: a node could make one to read
 * what it names. Source: AddPod in plugin/pkg/auth/authorizer/node/graph.go, VisitPodSecretNames and
 * VisitPodConfigmapNames in pkg/api/v1/pod/util.go.
 */
export function referencesOf({
  metadata,
  spec = {},
  status,
}: Pick<DecodedObject<Pod>, 'metadata' | 'spec' | 'status'>): readonly PodReference[] {
  if (isMirrorPod({ metadata })) return [];
  const { containers = [], ephemeralContainers = [], initContainers = [] } = spec;
  const all: readonly Decoded<Container>[] = [...initContainers, ...containers, ...ephemeralContainers];
  const volumes = spec.volumes ?? [];
  const claims = [
    ...(status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ];
  return [
    ...named('serviceaccounts', [spec.serviceAccountName]),
    ...named('secrets', [
      ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
      ...all.flatMap(secretsOfContainer),
      ...volumes.flatMap(secretsOfVolume),
    ]),
    ...named('configmaps', [...all.flatMap(configMapsOfContainer), ...volumes.flatMap(configMapsOfVolume)]),
    ...named(
      'persistentvolumeclaims',
      volumes.map((volume) =>
        volume.ephemeral ? `${metadata.name}-${volume.name}` : volume.persistentVolumeClaim?.claimName,
      ),
    ),
    ...named('resourceclaims.resource.k8s.io', claims),
  ];
}

function named(resource: PodReference['resource'], names: readonly (string | undefined)[]): PodReference[] {
  const known = new Set(names.filter((name) => name !== undefined && name !== ''));
  return [...known].map((name) => ({ resource, name: name! }));
}

function secretsOfContainer({ env = [], envFrom = [] }: Decoded<Container>): (string | undefined)[] {
  return [
    ...envFrom.map(({ secretRef }: Decoded<EnvFromSource>) => secretRef?.name),
    ...env.map(({ valueFrom }: Decoded<EnvVar>) => valueFrom?.secretKeyRef?.name),
  ];
}

function configMapsOfContainer({ env = [], envFrom = [] }: Decoded<Container>): (string | undefined)[] {
  return [
    ...envFrom.map(({ configMapRef }: Decoded<EnvFromSource>) => configMapRef?.name),
    ...env.map(({ valueFrom }: Decoded<EnvVar>) => valueFrom?.configMapKeyRef?.name),
  ];
}

function secretsOfVolume(volume: Decoded<Volume>): (string | undefined)[] {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, projected, rbd, scaleIO, secret, storageos } =
    volume;
  return [
    azureFile?.secretName,
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef?.name),
    csi?.nodePublishSecretRef?.name,
    secret?.secretName,
    ...(projected?.sources ?? []).map((source) => source.secret?.name),
  ];
}

function configMapsOfVolume({ configMap, projected }: Decoded<Volume>): (string | undefined)[] {
  return [configMap?.name, ...(projected?.sources ?? []).map((source) => source.configMap?.name)];
}
