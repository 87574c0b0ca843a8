import type { CompiledFaultRates, CompiledFaultsOptions } from './faults.options.js';
import type { AnswerFault, NextFault, PlannedFault } from './planned-fault.js';
import { CountedFault } from './planned-fault.js';
import type { SeenRequest } from './request-match.js';
import { isMatch, isWrite, requestText } from './request-match.js';
import { SeededRandom } from '@rollkeeper/machinery/clock';

/** The fault of one request. */
export interface ChosenFault {
  readonly fault: AnswerFault;
  /** It was asked for; absent: it came by chance. */
  readonly planned?: CountedFault;
}

type EventFault = 'cut' | 'gone' | 'delay';

type PlanOptions = Pick<CompiledFaultsOptions, 'seed' | 'rates' | 'resources' | 'retryAfterSeconds'>;

/** Decides which request and which event of a watch meets which fault. No I/O. */
export class FaultPlan {
  private readonly chance: SeededChance;
  private readonly planned = new Set<CountedFault>();
  private rates: CompiledFaultRates;

  constructor(private readonly options: PlanOptions) {
    this.chance = new SeededChance(options.seed);
    this.rates = options.rates;
  }

  setRates(rates: CompiledFaultRates): void {
    this.rates = rates;
  }

  /** @throws InvalidOptionError naming the field */
  failNext(next: NextFault): PlannedFault {
    const fault = new CountedFault(next, this.options.retryAfterSeconds);
    this.planned.add(fault);
    return fault;
  }

  /** Withdraws what was asked for. Rates stay. */
  clear(): void {
    for (const fault of this.planned) fault.cancel();
    this.planned.clear();
  }

  /** Requested faults come first, in their order; then chance, which leaves the beginning of watches alone. */
  decide(request: SeenRequest): ChosenFault | undefined {
    for (const planned of this.planned) if (planned.takes(request)) return { fault: planned.fault, planned };
    if (request.verb === 'watch' || !this.isOpenToChance(request)) return undefined;
    const fault = this.pick(requestText(request), this.answersFor(request));
    return fault && { fault };
  }

  /** The same for an event of a watch. */
  decideEvent(watch: SeenRequest): EventFault | undefined {
    if (!this.isOpenToChance(watch)) return undefined;
    const { watchCut, watchDelay, watchGone } = this.rates;
    return this.pick<EventFault>(requestText(watch), [
      ['cut', watchCut],
      ['gone', watchGone],
      ['delay', watchDelay],
    ]);
  }

  private isOpenToChance(request: SeenRequest): boolean {
    const { resources } = this.options;
    if (resources) return resources.some((resource) => isMatch({ resource }, request));
    return !isMatch({ resource: 'leases.coordination.k8s.io' }, request);
  }

  private answersFor(request: SeenRequest): readonly (readonly [AnswerFault, number])[] {
    const { conflict, errorAfter, errorBefore, lostAfter, lostBefore, tooManyRequests } = this.rates;
    const { retryAfterSeconds } = this.options;
    const isChange = request.verb === 'update' || request.verb === 'patch';
    const error = { kind: 'status', code: 500, reason: 'InternalError' } as const;
    return [
      [{ kind: 'status', code: 409, reason: 'Conflict', when: 'before' }, isChange ? conflict : 0],
      [
        { kind: 'status', code: 429, reason: 'TooManyRequests', when: 'before', retryAfterSeconds },
        tooManyRequests,
      ],
      [{ ...error, when: 'before' }, errorBefore],
      [{ kind: 'cut', when: 'before' }, lostBefore],
      [{ ...error, when: 'after' }, isWrite(request) ? errorAfter : 0],
      [{ kind: 'cut', when: 'after' }, isWrite(request) ? lostAfter : 0],
    ];
  }

  private pick<T>(subject: string, choices: readonly (readonly [T, number])[]): T | undefined {
    const drawn = this.chance.next(subject);
    let upTo = 0;
    for (const [choice, share] of choices) {
      upTo += share;
      if (drawn < upTo) return choice;
    }
    return undefined;
  }
}

/**
 * Chance that does not depend on the order of requests: the n-th draw for a subject is the same in every run with the same
 * seed, regardless of draws for other subjects.
 */
class SeededChance {
  private readonly drawn = new Map<string, number>();

  constructor(private readonly seed: number) {}

  /** In [0, 1). */
  next(subject: string): number {
    const count = (this.drawn.get(subject) ?? 0) + 1;
    this.drawn.set(subject, count);
    return new SeededRandom(hash(`${this.seed} ${subject} ${count}`)).next();
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
