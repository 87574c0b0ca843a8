import type { DeepReadonly, Pod, ReplicaSet, Service } from '@rollkeeper/machinery/kubernetes';
import type { EventNote } from '@rollkeeper/runtime';
import type { ConfigCopy } from './config-copy.js';
import type { RouteWrite } from './route-write.js';
import type { ServiceWrite } from './service-write.js';

/** The writes of the policies to objects other than the Deployment and its ReplicaSets. */
export interface PolicyWrites {
  /** In order. */
  readonly services: ServiceWrite[];
  /** Services that do not exist yet. */
  readonly madeServices: Service[];
  readonly routes: RouteWrite[];
  /** Copies of ConfigMaps and Secrets that do not exist yet. */
  readonly copies: ConfigCopy[];
  /** Pods that are resized in place, in their new form. */
  readonly pods: Pod[];
  /** ReplicaSets of experiments, which the Deployment does not control, and their Services. In order. */
  readonly experiments: ExperimentWrite[];
}

/** A ReplicaSet of an experiment comes or goes, or a Service of one comes; it goes with its ReplicaSet. */
export type ExperimentWrite =
  | { readonly verb: 'create' | 'delete'; readonly object: DeepReadonly<ReplicaSet> }
  | {
      readonly verb: 'serve';
      readonly object: DeepReadonly<Service>;
      /** Recorded once the Service has been made. */
      readonly note: EventNote;
    };
