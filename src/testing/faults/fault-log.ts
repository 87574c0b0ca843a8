import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { AnswerFault } from './planned-fault.js';
import type { SeenRequest } from './request-match.js';
import { requestText } from './request-match.js';

/** A fault that has happened. */
export interface FaultRecord {
  /** Wall clock, milliseconds since the epoch. */
  readonly atMs: number;
  /** `status 500 after`, `cut before`, `watch held`, `lease taken`, … */
  readonly fault: string;
  /** The target that it hit: `create pods in shop`. */
  readonly what: string;
  /** The request, if it hit one. */
  readonly request?: SeenRequest;
  /** Whether it came by chance, as the seed decides. */
  readonly byChance: boolean;
}

/** Writes down what has happened, in its order. */
export class FaultLog {
  readonly records: FaultRecord[] = [];

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly logger: Logger,
  ) {}

  note(fault: string, hit: SeenRequest | string, byChance = false): void {
    const what = typeof hit === 'string' ? hit : requestText(hit);
    this.records.push({
      atMs: this.clock.now(),
      fault,
      what,
      ...(typeof hit !== 'string' && { request: hit }),
      byChance,
    });
    this.logger.info('a fault was made', { fault, what, byChance });
  }
}

/** `status 500 after` */
export function faultText(fault: AnswerFault): string {
  return fault.kind === 'status' ? `status ${fault.code} ${fault.when}` : `${fault.kind} ${fault.when}`;
}
