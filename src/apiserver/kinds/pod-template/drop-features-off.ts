import type { StatefulSet } from '@rollkeeper/machinery/types/apps-v1';
import type { Container, PodTemplate } from '@rollkeeper/machinery/types/core-v1';
import type {
  Decoded,
  DecodedObject,
  KubernetesObject,
  Pod,
  PodSpec,
  PodTemplateSpec,
  ResourceType,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
import { containersOf } from '@rollkeeper/machinery/defaults';

interface Templated extends KubernetesObject {
  readonly spec?: Templates & { readonly jobTemplate?: { readonly spec?: Templates } };
}

interface Templates {
  readonly template?: Decoded<PodTemplateSpec>;
}

/** The place at which most built-in kinds have the spec of their pods. */
const IN_TEMPLATE = ({ spec }: Templated): Decoded<PodSpec> | undefined => spec?.template?.spec;
const POD_SPEC_OF: Readonly<Record<string, (object: UnstructuredObject) => Decoded<PodSpec> | undefined>> = {
  '/Pod': ({ spec }: DecodedObject<Pod>) => spec,
  '/PodTemplate': ({ template }: DecodedObject<PodTemplate>) => template?.spec,
  '/ReplicationController': IN_TEMPLATE,
  'apps/DaemonSet': IN_TEMPLATE,
  'apps/Deployment': IN_TEMPLATE,
  'apps/ReplicaSet': IN_TEMPLATE,
  'apps/StatefulSet': IN_TEMPLATE,
  'batch/CronJob': ({ spec }: Templated) => spec?.jobTemplate?.spec?.template?.spec,
  'batch/Job': IN_TEMPLATE,
};

/**
 * Takes the fields out of pods, templates and StatefulSets whose features are off by default in 1.36. That is the server's
 * part, and not one of the defaults: a cluster that these controllers run on may have them. A genuine server does so after
 * admission, when the fields of a new object have their owners already.
 * Source: pkg/api/pod/util.go, `dropDisabledFields`, and `dropStatefulSetDisabledFields` in pkg/registry/apps/statefulset.
 */
export function dropperOfFeaturesOff({
  group,
  kind,
}: ResourceType): ((object: UnstructuredObject) => void) | undefined {
  const podSpecOf = POD_SPEC_OF[`${group}/${kind}`];
  if (!podSpecOf) return undefined;
  const isPod = group === '' && kind === 'Pod';
  const isStatefulSet = group === 'apps' && kind === 'StatefulSet';
  return (object) => {
    const spec = podSpecOf(object);
    if (spec) dropFeaturesOff(spec);
    const { status }: DecodedObject<Pod> = object;
    if (isPod && status) dropFromStatus(status);
    if (isStatefulSet) dropFromStatefulSet(object);
  };
}

const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

function dropFromStatus(status: NonNullable<DecodedObject<Pod>['status']>): void {
  // DRANodeAllocatableResources
  delete status.nodeAllocatableResourceClaimStatuses;
  for (const list of STATUS_LISTS)
    for (const { volumeMounts } of status[list] ?? [])
      // ImageVolumeWithDigest
      for (const mount of volumeMounts ?? []) delete mount.volumeStatus;
}

function dropFeaturesOff(spec: Decoded<PodSpec>): void {
  // GenericWorkload
  if (spec.schedulingGroup) delete spec.schedulingGroup;
  for (const container of containersOf(spec)) {
    if (container.lifecycle?.stopSignal !== undefined) dropStopSignal(container);
  }
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) {
      // ClusterTrustBundleProjection and PodCertificateRequest: the source stays, and says nothing.
      if (source.clusterTrustBundle) delete source.clusterTrustBundle;
      if (source.podCertificate) delete source.podCertificate;
    }
  }
}

/** MaxUnavailableStatefulSet */
function dropFromStatefulSet({ spec }: DecodedObject<StatefulSet>): void {
  delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
}

/** ContainerStopSignals */
function dropStopSignal(container: Decoded<Container>): void {
  const { stopSignal: _signal, ...lifecycle } = container.lifecycle ?? {};
  if (Object.keys(lifecycle).length > 0) container.lifecycle = lifecycle;
  else delete container.lifecycle;
}
