/** The kinds of entries of a kept history. `change` and `summary` take the place of older entries. */
export const RECORD_KINDS = [
  ...(['created', 'asked', 'approved', 'ended', 'failed', 'good'] as const),
  ...(['scaled', 'sized', 'paused', 'resumed', 'experiment', 'change', 'summary'] as const),
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** By which means something was asked for. */
export type Means = 'user' | 'kubectl-scale' | 'autoscaler' | 'gitops' | 'rollback' | 'configuration';

/** How much happened in the time of a summary, or of a change. */
export interface RecordCounts {
  readonly changes?: number;
  readonly complete?: number;
  readonly failed?: number;
  readonly scaled?: number;
  /** Changes of the sizes of ReplicaSets. */
  readonly steps?: number;
}

/** A size that was changed, or the bounds of the sizes in a summary. */
export type RecordSizes =
  { readonly from: number; readonly to: number } | { readonly least: number; readonly most: number };

/** An entry of a kept history. */
export interface RecordEntry {
  /** RFC 3339. */
  readonly at: string;
  /** The end of a summary, RFC 3339. */
  readonly until?: string;
  readonly kind: RecordKind;
  readonly revision?: string;
  /** The author of the change, as far as the API knows. */
  readonly by?: string;
  /** The field manager. */
  readonly with?: string;
  readonly means?: Means;
  /** The reason that was given, or that of a failure. */
  readonly why?: string;
  /** The change, for people. */
  readonly what?: string;
  /** The ReplicaSet whose size was changed. Absent: the Deployment's own. */
  readonly replicaSet?: string;
  readonly sizes?: RecordSizes;
  /** The sums of a decision, in short. */
  readonly sums?: string;
  readonly result?: 'complete' | 'failed';
  /** From the beginning of a rollout to its end. */
  readonly tookMs?: number;
  readonly counts?: RecordCounts;
  /** The latest failures in a summary, for people. */
  readonly failures?: readonly string[];
}

/** Within a second: a failure comes before the way back that follows it, and sizes before the end that they lead to. */
const RANKS: Readonly<Record<string, number>> = { failed: 0, sized: 2, ended: 3, good: 4 };

/** Oldest first. Most times are whole seconds, and those of sizes are finer. */
export function byTime(
  a: Readonly<Record<'at' | 'kind', string>>,
  b: Readonly<Record<'at' | 'kind', string>>,
): number {
  const [first, second] = [Date.parse(a.at), Date.parse(b.at)];
  const seconds = Math.floor(first / 1000) - Math.floor(second / 1000);
  return seconds || (RANKS[a.kind] ?? 1) - (RANKS[b.kind] ?? 1) || first - second;
}
