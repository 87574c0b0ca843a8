import type { Decoded, DeepReadonly, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { selectorText } from '@rollkeeper/machinery/kubernetes';
import type { ScaleMapping } from '../kind-definition.js';

interface Scalable {
  spec?: { replicas?: number; selector?: DeepReadonly<Decoded<LabelSelector>> };
  status?: { replicas?: number };
}

/** The Scale view of everything that keeps its numbers in `spec.replicas` and `status.replicas`. */
export const REPLICAS_SCALE: ScaleMapping = {
  replicasPath: ['spec', 'replicas'],
  read(object) {
    const { spec, status } = object as unknown as Scalable;
    return {
      specReplicas: spec?.replicas ?? 0,
      statusReplicas: status?.replicas ?? 0,
      selector: selectorText(spec?.selector),
    };
  },
  write(object, specReplicas) {
    const scalable = object as unknown as Scalable;
    (scalable.spec ??= {}).replicas = specReplicas;
  },
};
