/** What the elector counts. */
export interface LeaderElectionMetrics {
  /** `leader_election_master_status` of client-go. */
  leading(isLeading: boolean): void;
  /** One attempt, with how long its answer took. */
  attempt(result: 'acquired' | 'renewed' | 'held' | 'failed', durationMs: number): void;
  /** Another holder, or another epoch, was seen. */
  transition(): void;
  /** We have taken the lease before it had run out, because its holder was gone. */
  deposed(): void;
}

export const noLeaderElectionMetrics: LeaderElectionMetrics = {
  leading: () => undefined,
  attempt: () => undefined,
  transition: () => undefined,
  deposed: () => undefined,
};
