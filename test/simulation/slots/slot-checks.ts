import type { RunningReplica } from '../../../src/testing/simulation/index.js';
import type { Violation } from '../../chaos/checkers/violation.js';
import { probesOf } from './slot-namespaces.js';

/** The table of slots as it is stored: the fields of its hash. */
export type StoredTable = ReadonlyMap<string, string>;

/** A slot as the table has it. The holders are processes. */
export interface HeldSlot {
  readonly epoch: number;
  readonly owner: string;
  readonly standby: string;
}

export interface SlotChecksParts {
  /** The number of slots. */
  readonly slots: number;
  readonly found: (violation: Violation) => void;
  readonly replicas: () => readonly RunningReplica[];
  readonly table: () => StoredTable;
}

/** After the faults, each slot has one owner within this time, milliseconds: a list that was refused is retried after 30 s. */
const ONE_OWNER_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;
/** The arguments of the script that assigns, with its name, its keys and its number of keys. */
const ASSIGN_LENGTH = 8;
const TABLE = /:slots-\d+$/;

/** Judges the assignment of slots: who writes the table, and who works on which slot. */
export class SlotChecks {
  checks = 0;
  private readonly probes: readonly string[];
  /** Since when each slot has none or several owners, simulated milliseconds. */
  private readonly wrongSince = new Map<number, number>();
  private lookedAtMs = -Infinity;
  private isCalm = false;

  constructor(private readonly parts: SlotChecksParts) {
    this.probes = probesOf(parts.slots);
  }

  /** From now on there are no faults; or there are again, in an exam. */
  setCalm(isCalm: boolean): void {
    this.isCalm = isCalm;
    this.wrongSince.clear();
  }

  /** Judges a request to Redis that has just been executed: only the term that began last changes the table. */
  seeRequest(request: readonly string[], reply: string): void {
    const [, , , key = '', epoch, holder, channel = ''] = request;
    if (request.length !== ASSIGN_LENGTH || !TABLE.test(key) || !channel.endsWith(':changed')) return;
    if (reply.startsWith('-')) return;
    this.checks += 1;
    const table = this.parts.table();
    if (table.get('epoch') === epoch && table.get('holder') === holder) return;
    const problem = `term ${epoch} assigns while term ${table.get('epoch')} counts`;
    this.parts.found({ check: 'slot table', subject: key, problem });
  }

  /** Judges a step: once there are no faults, each slot soon has one owner, and no more. */
  judge(nowMs: number): void {
    if (!this.isCalm || nowMs - this.lookedAtMs < LOOK_EVERY_MS) return;
    this.lookedAtMs = nowMs;
    for (const [slot, owners] of this.owners().entries()) {
      this.checks += 1;
      if (owners.length === 1) this.wrongSince.delete(slot);
      else if (!this.wrongSince.has(slot)) this.wrongSince.set(slot, nowMs);
      if (nowMs - (this.wrongSince.get(slot) ?? nowMs) <= ONE_OWNER_WITHIN_MS) continue;
      this.wrongSince.set(slot, nowMs);
      const problem = `${problemOf(owners)} for ${ONE_OWNER_WITHIN_MS} ms`;
      this.parts.found({ check: 'slot owners', subject: `slot ${slot}`, problem });
    }
  }

  /** The slots that do not have one owner, as sentences. */
  unrest(): string[] {
    return this.owners().flatMap((owners, slot) =>
      owners.length === 1 ? [] : [`slot ${slot} ${problemOf(owners)}`],
    );
  }

  /** By the number of each slot, the names of the running processes that work on its keys. */
  owners(): readonly (readonly string[])[] {
    const running = this.parts
      .replicas()
      .filter(({ hasEnded, process }) => process.state === 'running' && !hasEnded);
    return this.probes.map((probe) =>
      running.filter(({ manager }) => manager.tellsOf(probe)).map(({ process }) => process.name),
    );
  }

  /** All slots as the table has them, by their number; none if there is no table. */
  stored(): readonly HeldSlot[] {
    const table = this.parts.table();
    return this.probes.flatMap((_, slot) => {
      const text = table.get(String(slot));
      if (text === undefined) return [];
      const [epoch, owner, standby] = JSON.parse(text) as [number, string, string];
      return [{ epoch, owner: processOf(owner), standby: processOf(standby) }];
    });
  }
}

/** A replica is in the table by the name of its process and an id of this life. */
function processOf(replica: string): string {
  return replica.slice(0, Math.max(replica.lastIndexOf('_'), 0));
}

function problemOf(owners: readonly string[]): string {
  return owners.length === 0 ? 'has no owner' : `has the owners ${owners.join(' and ')}`;
}
