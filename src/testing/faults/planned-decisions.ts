import type { FaultLog } from './fault-log.js';
import { faultText } from './fault-log.js';
import type { FaultPlan } from './fault-plan.js';
import type { FaultDecisions, ProxiedRequest, RequestDecision } from './fault-proxy.js';
import type { GivenAnswer } from './given-answer.js';
import type { EventDecision } from './proxied-watch.js';
import type { SeenRequest } from './request-match.js';
import type { WatchGates } from './watch-gates.js';

interface PlannedDecisionsParts {
  readonly plan: Pick<FaultPlan, 'decide' | 'decideEvent'>;
  readonly gates: Pick<WatchGates, 'delayOf' | 'untilOpen'>;
  readonly log: Pick<FaultLog, 'note'>;
  /** How late an event is that comes late by chance, milliseconds. */
  readonly watchDelayMs: number;
}

/** The decisions of a plan, each of them noted in the log when it takes effect. */
export class PlannedDecisions implements FaultDecisions {
  constructor(private readonly parts: PlannedDecisionsParts) {}

  /** A fault after the effect waits for a request that the server does not refuse. */
  decide({ resource }: Pick<ProxiedRequest, 'resource'>): RequestDecision | undefined {
    const chosen = resource && this.parts.plan.decide(resource);
    if (!chosen) return undefined;
    const { fault, planned } = chosen;
    const hit = (): GivenAnswer => {
      this.parts.log.note(faultText(fault), resource, planned === undefined);
      planned?.hit();
      return fault;
    };
    if (fault.when === 'before' || resource.verb === 'watch') return { before: hit() };
    return {
      after: (status) => {
        if (status < 400) return hit();
        planned?.giveBack();
        return undefined;
      },
    };
  }

  decideEvent(watch: SeenRequest): EventDecision {
    const { gates, log, plan, watchDelayMs } = this.parts;
    const chosen = plan.decideEvent(watch);
    if (chosen) log.note(`watch ${chosen}`, watch, true);
    const delayMs = Math.max(gates.delayOf(watch), chosen === 'delay' ? watchDelayMs : 0);
    return { delayMs, ...(chosen && chosen !== 'delay' && { end: chosen }) };
  }

  untilOpen(watch: SeenRequest, signal: AbortSignal): Promise<void> {
    return this.parts.gates.untilOpen(watch, signal);
  }
}
