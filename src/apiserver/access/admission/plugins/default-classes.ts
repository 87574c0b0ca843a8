import type { Ingress } from '@rollkeeper/machinery/types/networking-v1';
import { newestDefault } from '@rollkeeper/machinery/kubernetes';
import type {
  DecodedObject,
  KubernetesObject,
  PersistentVolumeClaim,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';

const INGRESS = 'ingressclass.kubernetes.io/is-default-class';

/** Gives a claim without a class the default one. Source: DefaultStorageClass. */
export function setDefaultStorageClass(
  claim: UnstructuredObject,
  classes: readonly Readonly<KubernetesObject>[],
): void {
  const { spec }: DecodedObject<PersistentVolumeClaim> = claim;
  const isNamed =
    spec?.storageClassName !== undefined ||
    claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined;
  const chosen = isNamed ? undefined : newestDefault(classes);
  if (chosen) claim.spec = { ...spec, storageClassName: chosen.metadata.name };
}

/** The same for an Ingress. Source: DefaultIngressClass. */
export function setDefaultIngressClass(
  ingress: UnstructuredObject,
  classes: readonly Readonly<KubernetesObject>[],
): void {
  const { spec }: DecodedObject<Ingress> = ingress;
  const isNamed =
    spec?.ingressClassName !== undefined ||
    ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined;
  const chosen = isNamed ? undefined : newestDefault(classes, [INGRESS]);
  if (chosen) ingress.spec = { ...spec, ingressClassName: chosen.metadata.name };
}
