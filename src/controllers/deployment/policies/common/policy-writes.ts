import type { Pod } from '@rollkeeper/machinery/kubernetes';
import type { ServiceWrite } from './service-write.js';

/** The writes of the policies to objects other than the Deployment and its ReplicaSets. */
export interface PolicyWrites {
  /** In order. */
  readonly services: ServiceWrite[];
  /** Pods that are resized in place, in their new form. */
  readonly pods: Pod[];
}
