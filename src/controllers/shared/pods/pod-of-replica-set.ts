import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { withResponder } from './eviction-responder.js';
import { readingCopies } from './config-copies.js';
import { podFromTemplate } from './pod-from-template.js';
import { readPodMarks, withMarks } from './pod-marks.js';
import { podNamePrefix } from './pod-name.js';

/**
 * A new pod of a ReplicaSet.
 * @param owner with `apiVersion` and `kind`
 */
export function podOfReplicaSet(owner: DeepReadonly<ReplicaSet>, name: string): Pod {
  const generateName = podNamePrefix(owner.metadata.name);
  const pod = podFromTemplate({ owner, template: owner.spec.template, name, generateName });
  return withMarks(readingCopies(withResponder(pod, owner), owner), readPodMarks(owner));
}
