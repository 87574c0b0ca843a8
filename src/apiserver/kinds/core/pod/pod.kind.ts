import { PODS, isPodFinished } from '@rollkeeper/machinery/kubernetes';
import type { Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { carryOver, defineKind } from '../../define-kind.js';
import { defaultPodOnly, defaultPodSpec } from '@rollkeeper/machinery/defaults';
import { POD_COLUMNS, podRow } from './pod.columns.js';
import { validatePod, validatePodUpdate } from './pod.validation.js';
import { podWarnings } from '../../pod-template/pod-warnings.js';
import { qosClassOf } from './qos-class.js';

const DEFAULT_GRACE_SECONDS = 30;

/** Source of preparations, grace and selectable fields: pkg/registry/core/pod/strategy.go. */
export const POD_KIND = defineKind({
  type: PODS,
  schema: 'io.k8s.api.core.v1.Pod',
  shortNames: ['po'],
  categories: ['all'],
  subresources: ['status', 'binding', 'eviction', 'log', 'exec', 'attach', 'portforward'],
  columns: POD_COLUMNS,
  toRow: (object, nowMs) => podRow(object as unknown as Pod, nowMs),
  applyDefaults(object) {
    const pod = object as unknown as Pod;
    const spec = (pod.spec ??= {} as PodSpec);
    defaultPodSpec(spec);
    defaultPodOnly(spec);
  },
  generationOf: ({ spec }) => spec,
  // Programs update pods, and often.
  warnings: (object, old) => (old ? [] : podWarnings(object as unknown as Pod)),
  prepareForCreate(object) {
    object.status = { phase: 'Pending', qosClass: qosClassOf((object as unknown as Pod).spec) };
  },
  prepareForUpdate(object, old, subresource) {
    if (subresource === '') {
      carryOver(object, old, 'status');
      return;
    }
    carryOver(object, old, 'spec');
    const pod = object as unknown as Pod;
    const before = old as unknown as Pod;
    if (before.metadata.ownerReferences) pod.metadata.ownerReferences = [...before.metadata.ownerReferences];
    else delete pod.metadata.ownerReferences;
    if (before.status?.qosClass) (pod.status ??= {}).qosClass ??= before.status.qosClass;
  },
  validate: (object, errors) => validatePod(object as unknown as Pod, errors),
  validateUpdate: (object, old, subresource, errors) =>
    validatePodUpdate(object as unknown as Pod, old as unknown as Pod, subresource, errors),
  graceSeconds(object, requested) {
    const pod = object as unknown as Pod;
    const { spec } = pod;
    const isRunning = spec?.nodeName && !isPodFinished(pod);
    if (!isRunning) return 0;
    const seconds = requested ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    return seconds < 0 ? 1 : seconds;
  },
  selectableFields(object) {
    const { spec, status } = object as unknown as Pod;
    return {
      'spec.nodeName': spec?.nodeName ?? '',
      'spec.restartPolicy': spec?.restartPolicy ?? '',
      'spec.schedulerName': spec?.schedulerName ?? '',
      'spec.serviceAccountName': spec?.serviceAccountName ?? '',
      'spec.hostNetwork': String(spec?.hostNetwork ?? false),
      'status.phase': status?.phase ?? '',
      'status.podIP': status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
      'status.nominatedNodeName': status?.nominatedNodeName ?? '',
    };
  },
});
