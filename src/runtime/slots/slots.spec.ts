import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { LeaseLostError, ShutdownError } from '../../machinery/errors/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { HeldSlots, MemorySlotTable, SlotKeeper, SlotLeader } from './index.js';

const COUNT = 8;

let clock: FakeClock;
let table: MemorySlotTable;
let replicas: Replica[];
/** The events, in order. */
let seen: string[];

/** A replica without controllers: its copies are current when the test says so. */
class Replica {
  readonly held = new HeldSlots(COUNT);
  readonly kept: number[][] = [];
  readonly keeper: SlotKeeper;
  readonly leader: SlotLeader;
  readonly stopper = new AbortController();
  readonly term = new AbortController();
  copiesAtOnce = true;
  private readonly copying = new Map<number, () => void>();
  private running: Promise<void> | undefined;
  /** The reason for which its last term ended by itself. */
  refusal: unknown;

  constructor(readonly name: string) {
    const parts = { replica: name, table, clock, logger: silentLogger };
    this.leader = new SlotLeader({ ...parts, count: COUNT });
    this.keeper = new SlotKeeper({
      ...parts,
      held: this.held,
      copies: {
        keep: (slots) => void this.kept.push([...slots].sort((one, other) => one - other)),
        untilCurrent: (slot) =>
          this.copiesAtOnce
            ? Promise.resolve()
            : new Promise<void>((resolve) => this.copying.set(slot, resolve)),
      },
    });
    this.held.listen({
      begun: (slots) => void seen.push(`${name} begins ${slots.size}`),
      ended: (slots) => void seen.push(`${name} ends ${slots.size}`),
    });
    replicas.push(this);
  }

  start(): this {
    this.running = this.keeper.run(this.stopper.signal);
    return this;
  }

  async lead(epoch = 1): Promise<void> {
    const term = { epoch, holder: this.name };
    this.leader.lead(term, this.term.signal).catch((error: unknown) => void (this.refusal = error));
    await clock.advance(0);
  }

  async stop(): Promise<void> {
    this.stopper.abort(new ShutdownError('the test stops it'));
    await clock.advance(0);
    await this.running;
  }

  copyAll(): void {
    for (const resolve of this.copying.values()) resolve();
    this.copying.clear();
  }

  get owned(): number {
    return this.held.begun.size;
  }
}

beforeEach(() => {
  clock = new FakeClock();
  table = new MemorySlotTable();
  replicas = [];
  seen = [];
});

async function settled(names: readonly string[]): Promise<Replica[]> {
  const made = names.map((name) => new Replica(name).start());
  await clock.advance(0);
  await made[0]!.lead();
  await clock.advance(10_000);
  return made;
}

describe('replicas that share slots', () => {
  it('work on each slot in one of them, and keep the copies of their own and of those that they stand by for', async () => {
    const all = await settled(['a', 'b', 'c', 'd']);
    expect(all.map(({ owned }) => owned).reduce((sum, each) => sum + each)).toBe(COUNT);
    expect(Math.max(...all.map(({ owned }) => owned))).toBeLessThanOrEqual(3);
    for (const { held, keeper, kept } of all)
      expect(kept.at(-1)).toHaveLength(held.begun.size + keeper.standbyCount);
    expect(all[0]!.leader.unowned).toBe(0);
  });

  it('wait for the copy before they begin, and the slot counts as without an owner until then', async () => {
    const alone = new Replica('a');
    alone.copiesAtOnce = false;
    alone.start();
    await clock.advance(0);
    await alone.lead();
    await clock.advance(6000);
    expect([alone.owned, alone.leader.unowned]).toEqual([0, COUNT]);
    alone.copyAll();
    await clock.advance(500);
    expect([alone.owned, alone.leader.unowned]).toEqual([COUNT, 0]);
  });

  it('are given nothing before all have had the time to report, so that the first one need not hold everything', async () => {
    const first = new Replica('a').start();
    await clock.advance(0);
    await first.lead();
    await clock.advance(3000);
    const others = ['b', 'c', 'd'].map((name) => new Replica(name).start());
    await clock.advance(10_000);
    const most = Math.max(...first.kept.map(({ length }) => length));
    expect(most).toBeLessThan(COUNT);
    expect([first, ...others].reduce((sum, { owned }) => sum + owned, 0)).toBe(COUNT);
  });

  it('take over the slots of one that dies, with copies that they have', async () => {
    const [leader, dead, ...others] = await settled(['a', 'b', 'c', 'd']);
    const own = dead!.owned;
    const living = [leader!, ...others];
    const before = living.reduce((sum, { owned }) => sum + owned, 0);
    for (const each of living) each.copiesAtOnce = false;
    table.dies(dead!.name);
    dead!.stopper.abort(new Error('killed'));
    await clock.advance(300);
    expect(living.reduce((sum, { owned }) => sum + owned, 0)).toBe(before + own);
  });

  it('take over the slots of one that reports nothing any more, although its process is there', async () => {
    await table.report('hung', [0, 1, 2, 3, 4, 5, 6, 7]);
    const assigner = await table.begin({ epoch: 1, holder: 'before' }, COUNT);
    await assigner.assign(
      Array.from({ length: COUNT }, (_, slot) => ({ slot, owner: 'hung', standby: 'a' })),
    );
    const leader = new Replica('a').start();
    await clock.advance(0);
    await leader.lead(2);
    await clock.advance(14_500);
    expect((await table.read()).map(({ owner }) => owner)).toContain('hung');
    await clock.advance(1000);
    expect(leader.owned).toBe(COUNT);
    expect((await table.members()).map(({ replica }) => replica)).toEqual(['a']);
  });

  it.each([20_000, -20_000])(
    'stay as they are when the clock of the store jumps by %i ms, also under a new leader',
    async (jumpMs) => {
      const all = await settled(['a', 'b', 'c']);
      const before = await table.read();
      const members = table.members.bind(table);
      const jumpedAt = new Set((await members()).map(({ id }) => id));
      // Reports from before the jump are older now, or from the future.
      table.members = async () =>
        (await members()).map((each) => (jumpedAt.has(each.id) ? { ...each, ageMs: jumpMs } : each));
      await clock.advance(1000);
      expect(await table.read()).toEqual(before);
      all[0]!.term.abort(new LeaseLostError('lost'));
      await all[1]!.lead(2);
      await clock.advance(20_000);
      expect(await table.read()).toEqual(before);
    },
  );

  it('are given the slots of those that died long ago by a new leader, once all have had the time to report', async () => {
    const old = ['old-1', 'old-2'];
    for (const replica of old) await table.report(replica, [0, 1, 2, 3, 4, 5, 6, 7]);
    const assigner = await table.begin({ epoch: 1, holder: 'before' }, COUNT);
    const slots = Array.from({ length: COUNT }, (_, slot) => ({ slot, owner: old[0]!, standby: old[1]! }));
    await assigner.assign(slots);
    const members = table.members.bind(table);
    table.members = async () =>
      (await members()).map((each) => (old.includes(each.replica) ? { ...each, ageMs: 3_600_000 } : each));
    const all = ['a', 'b'].map((name) => new Replica(name).start());
    await clock.advance(0);
    await all[0]!.lead(2);
    await clock.advance(4500);
    expect((await table.read()).map(({ epoch }) => epoch)).toEqual(slots.map(() => 1));
    await clock.advance(4500);
    expect(all.reduce((sum, { owned }) => sum + owned, 0)).toBe(COUNT);
  });

  it('report every 5 s also if the table changes in between, so that none that lives looks silent', async () => {
    new Replica('a').start();
    await clock.advance(0);
    const assigner = await table.begin({ epoch: 1, holder: 'before' }, COUNT);
    const [first] = await table.members();
    await clock.advance(4000);
    await assigner.assign([{ slot: 0, owner: 'another', standby: '' }]);
    await clock.advance(900);
    expect((await table.members()).map(({ id }) => id)).toEqual([first?.id]);
    await clock.advance(100);
    expect((await table.members()).map(({ id }) => id)).not.toEqual([first?.id]);
  });

  it('move slots to one that comes only when its copies are current, and meanwhile the old owners go on', async () => {
    const [leader] = await settled(['a', 'b', 'c']);
    const late = new Replica('late');
    late.copiesAtOnce = false;
    late.start();
    await clock.advance(2000);
    const ofOthers = (): number => replicas.reduce((sum, each) => sum + (each === late ? 0 : each.owned), 0);
    expect([late.owned, ofOthers(), leader!.leader.unowned]).toEqual([0, COUNT, 0]);
    for (let rounds = 0; rounds < 10; rounds++) {
      late.copyAll();
      await clock.advance(300);
    }
    expect(late.owned).toBeGreaterThan(0);
    expect(late.owned + ofOthers()).toBe(COUNT);
  });

  it('go on without one whose copies do not come, move slots past it, and try it again after five minutes', async () => {
    const [a, b] = [new Replica('a').start(), new Replica('b').start()];
    const refused = new Replica('c');
    refused.copiesAtOnce = false;
    refused.start();
    await clock.advance(0);
    await a.lead();
    await clock.advance(10_000);
    expect(a.leader.unowned).toBeGreaterThan(0);
    await clock.advance(60_000);
    expect([a.leader.unowned, a.leader.lateReplicas, a.owned + b.owned]).toEqual([0, 1, COUNT]);
    const d = new Replica('d').start();
    await clock.advance(1000);
    expect(d.owned).toBeGreaterThan(1);
    expect(refused.kept.at(-1)).toEqual([]);
    refused.copiesAtOnce = true;
    await clock.advance(300_000);
    expect([a.leader.unowned, a.leader.lateReplicas]).toEqual([0, 0]);
    expect(refused.owned).toBeGreaterThan(0);
  });

  it('hand their slots over when they stop, before anything looks for them', async () => {
    const [, stopping] = await settled(['a', 'b', 'c', 'd']);
    seen = [];
    await stopping!.stop();
    expect(stopping!.owned).toBe(0);
    expect(replicas.reduce((sum, { owned }) => sum + owned, 0)).toBe(COUNT);
    expect(seen[0]).toMatch(/^b ends/);
  });

  it('are given the slots of a leader that stops by that leader', async () => {
    const [leader, ...others] = await settled(['a', 'b', 'c']);
    leader!.term.abort(new ShutdownError('it stops'));
    await leader!.stop();
    await clock.advance(0);
    expect(others.reduce((sum, { owned }) => sum + owned, 0)).toBe(COUNT);
  });

  it('stay as they are once their leader has lost its lease', async () => {
    const [leader, other] = await settled(['a', 'b']);
    const before = await table.read();
    leader!.term.abort(new LeaseLostError('lost'));
    await other!.stop();
    await clock.advance(1000);
    expect(await table.read()).toEqual(before);
    expect(leader!.leader.unowned).toBeUndefined();
  });

  it('keep the copy of a slot until the last run of its keys has ended', async () => {
    const [first] = await settled(['a']);
    const slot = first!.held.slotOf('shop');
    let end = (): void => undefined;
    const run = first!.held.run('shop', () => new Promise<void>((resolve) => (end = resolve)));
    const leader = await table.begin({ epoch: 9, holder: 'test' }, COUNT);
    await leader.assign([{ slot, owner: 'x', standby: 'y' }]);
    await clock.advance(0);
    expect(first!.kept.at(-1)).toContain(slot);
    end();
    await run;
    await clock.advance(0);
    expect(first!.kept.at(-1)).not.toContain(slot);
  });

  it('begin anew where the owner of a slot has changed and changed back between two looks', async () => {
    const [first] = await settled(['a']);
    seen = [];
    const leader = await table.begin({ epoch: 9, holder: 'test' }, COUNT);
    void leader.assign([{ slot: 0, owner: 'x', standby: 'a' }]);
    await leader.assign([{ slot: 0, owner: 'a', standby: '' }]);
    await clock.advance(0);
    expect(seen).toEqual(['a ends 1', 'a begins 1']);
    expect(first!.owned).toBe(COUNT);
  });

  it('go on with what they had when the store loses the table, and the leader makes it anew in another term', async () => {
    const all = await settled(['a', 'b', 'c']);
    const before = all.map(({ held }) => [...held.begun]);
    for (const each of all) each.copiesAtOnce = false;
    table.loseData();
    await clock.advance(6000);
    expect(all[0]!.refusal).toMatchObject({ code: 'SUPERSEDED' });
    expect(all.map(({ held }) => [...held.begun])).toEqual(before);
    await all[0]!.lead(2);
    await clock.advance(5000);
    expect(all.reduce((sum, { owned }) => sum + owned, 0)).toBe(COUNT);
    expect((await table.read()).every(({ owner }) => owner !== '')).toBe(true);
  });

  it('get the slots of a dead one back from the leader when the store goes back to a table of its life', async () => {
    const [leader, dead, other] = await settled(['a', 'b', 'c']);
    const older = await table.read();
    table.dies(dead!.name);
    dead!.stopper.abort(new Error('killed'));
    await clock.advance(5000);
    const owned = (): number => leader!.owned + other!.owned;
    expect(owned()).toBe(COUNT);
    table.loseData(older);
    await table.begin({ epoch: 1, holder: leader!.name }, COUNT);
    await clock.advance(10_000);
    expect(owned()).toBe(COUNT);
    expect((await table.read()).map(({ owner }) => owner)).not.toContain(dead!.name);
  });
});
