/** What the elector counts. */
export interface LeaderElectionMetrics {
  /** `leader_election_master_status` of client-go. */
  leading(isLeading: boolean): void;
  /** One attempt, with how long its answer took. */
  attempt(result: 'acquired' | 'renewed' | 'held' | 'failed', durationMs: number): void;
  /** Another holder, or another epoch, was seen. */
  transition(): void;
}

export const noLeaderElectionMetrics: LeaderElectionMetrics = {
  leading: () => undefined,
  attempt: () => undefined,
  transition: () => undefined,
};
