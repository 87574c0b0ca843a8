import type { Pod } from '@rollkeeper/machinery/kubernetes';
import type { ServiceWrite } from './service-write.js';

/** What the policies write to objects other than the Deployment and its ReplicaSets. */
export interface PolicyWrites {
  /** In order. */
  readonly services: ServiceWrite[];
  /** Pods that are resized in place, in their new form. */
  readonly pods: Pod[];
}
