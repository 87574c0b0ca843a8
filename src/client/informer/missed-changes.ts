import { compareResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { StepOutcome } from './decide-watch-step.js';

/**
 * Whether a cache may have missed changes. It may from when a watch or a list fails until a list is complete, or until a
 * resumed watch shows what the server had after the failure. What an open watch brings within moments does not count.
 */
export class MissedChanges {
  private mayExist = true;
  /** A resumed watch that shows this version has brought everything that was missed. */
  private presentAfterFailure: string | undefined;
  /** A list is wanted that begins after this many reads. */
  private wantedAfterReads: number | undefined;

  /** False: the cache is current. */
  get arePossible(): boolean {
    return this.mayExist;
  }

  /** Whether the next step has to be a list. */
  get wantList(): boolean {
    return this.wantedAfterReads !== undefined;
  }

  /** Only a list that has not begun yet, after this many reads, shows everything. */
  demandList(readsBegun: number): void {
    this.wantedAfterReads = readsBegun;
  }

  /** A list is complete. @param read its number */
  endWithList(read: number): void {
    if (this.wantedAfterReads !== undefined && read <= this.wantedAfterReads) return;
    this.wantedAfterReads = undefined;
    this.end();
  }

  /** The watch shows this version. */
  endIfShown(resourceVersion: string): void {
    if (this.presentAfterFailure === undefined) return;
    const order = compareResourceVersions(resourceVersion, this.presentAfterFailure);
    if (order !== undefined && order >= 0) this.end();
  }

  noteOutcome(outcome: StepOutcome): void {
    if (outcome.type === 'listed') return;
    if (outcome.type === 'checked') this.presentAfterFailure = outcome.present;
    else if (outcome.type !== 'watch-ended' || outcome.early) {
      this.presentAfterFailure = undefined;
      this.mayExist = true;
    }
  }

  private end(): void {
    this.presentAfterFailure = undefined;
    this.mayExist = false;
  }
}
