/** One change of leadership, as this process saw it. */
export interface LeadershipTransition {
  /** Identity; empty when the lease was found free. */
  readonly who: string;
  readonly epoch: number;
  /** `started leading`, `observed`, `stopped: <reason>`. */
  readonly why: string;
  /** Wall clock, milliseconds since the epoch. */
  readonly atMs: number;
}

/** The last transitions, oldest first. */
export class LeadershipHistory {
  private readonly kept: LeadershipTransition[] = [];

  constructor(private readonly limit = 100) {}

  add(transition: LeadershipTransition): void {
    this.kept.push(transition);
    if (this.kept.length > this.limit) this.kept.shift();
  }

  list(): readonly LeadershipTransition[] {
    return [...this.kept];
  }
}
