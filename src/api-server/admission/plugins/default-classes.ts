import type { IIngressSpec } from 'kubernetes-models/networking.k8s.io/v1/IngressSpec';
import type { IPersistentVolumeClaimSpec } from 'kubernetes-models/v1/PersistentVolumeClaimSpec';
import type { KubernetesObject, UnstructuredObject } from '../../../base/kubernetes/index.js';

const STORAGE = 'storageclass.kubernetes.io/is-default-class';
const BETA_STORAGE = 'storageclass.beta.kubernetes.io/is-default-class';
const INGRESS = 'ingressclass.kubernetes.io/is-default-class';

/** Gives a claim that names no class the default one. Source: DefaultStorageClass. */
export function setDefaultStorageClass(
  claim: UnstructuredObject,
  classes: readonly Readonly<KubernetesObject>[],
): void {
  const spec = claim.spec as IPersistentVolumeClaimSpec | undefined;
  const isNamed =
    spec?.storageClassName !== undefined ||
    claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined;
  const chosen = isNamed ? undefined : newestDefault(classes, [STORAGE, BETA_STORAGE]);
  if (chosen) claim.spec = { ...spec, storageClassName: chosen };
}

/** The same for an Ingress. Source: DefaultIngressClass. */
export function setDefaultIngressClass(
  ingress: UnstructuredObject,
  classes: readonly Readonly<KubernetesObject>[],
): void {
  const spec = ingress.spec as IIngressSpec | undefined;
  const isNamed =
    spec?.ingressClassName !== undefined ||
    ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined;
  const chosen = isNamed ? undefined : newestDefault(classes, [INGRESS]);
  if (chosen) ingress.spec = { ...spec, ingressClassName: chosen };
}

/** Of several defaults the one that was made last; of equally old ones the first by name. */
function newestDefault(
  classes: readonly Readonly<KubernetesObject>[],
  annotations: readonly string[],
): string | undefined {
  const born = ({ metadata }: Readonly<KubernetesObject>): number =>
    Date.parse(metadata.creationTimestamp ?? '');
  const [newest] = classes
    .filter(({ metadata }) => annotations.some((name) => metadata.annotations?.[name] === 'true'))
    .sort((a, b) => born(b) - born(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
  return newest?.metadata.name;
}
