/** The subject of a check. */
export interface CheckSubject {
  readonly check: string;
  readonly namespace: string;
  /** The name of the Deployment. */
  readonly name: string;
  readonly revision: string;
  readonly replicaSet: string;
  /** The label `pod-template-hash` of the pods. */
  readonly hash: string;
  /** The Service that selects these pods alone. @default there is none, or another one than that of an experiment */
  readonly service?: string | undefined;
  /** The version that runs beside it with the most pods. @default none does */
  readonly stable?: Pick<CheckSubject, 'revision' | 'replicaSet' | 'hash' | 'service'>;
  /** Counted from 1; undefined for a check that is measured all the way through. */
  readonly step?: number;
}
