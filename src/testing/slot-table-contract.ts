import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AssignedSlot, SlotMember, SlotTable } from '@rollkeeper/runtime/slots';
import { waitFor } from './wait-for.js';

/** Tables of one installation, for {@link runSlotTableContract}. */
export interface SlotTablesUnderTest {
  /** The table as another replica sees it; all of them share one installation, in which no term has begun. */
  table(): SlotTable;
  /** The process that has this table, and was this replica, dies. */
  dies(table: Pick<SlotTable, 'close'>, replica: string): Promise<void>;
  /** Keeps what the store has. The result puts it back, as the restore of a backup or an old replica of the store does. */
  saved(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

const A1 = { epoch: 1, holder: 'a' };
const B1 = { epoch: 1, holder: 'b' };
const B2 = { epoch: 2, holder: 'b' };
const refused = (epoch: number): object => ({ code: 'SUPERSEDED', epoch });

/** Runs the contract of `SlotTable` on an implementation. */
export function runSlotTableContract(name: string, make: () => Promise<SlotTablesUnderTest>): void {
  describe(`${name} keeps the contract of a table of slots`, () => {
    let subject: SlotTablesUnderTest;
    let table: SlotTable;
    let other: SlotTable;

    beforeEach(async () => {
      subject = await make();
      table = subject.table();
      other = subject.table();
    });

    afterEach(() => subject.stop());

    it('knows no slots before the first term, which makes them, without owners', async () => {
      expect(await other.read()).toEqual([]);
      const { slots } = await table.begin(A1, 3);
      expect(slots).toEqual(Array.from({ length: 3 }, () => ({ owner: '', standby: '', epoch: 0 })));
      expect(await other.read()).toEqual(slots);
    });

    it('keeps the number of slots for ever', async () => {
      await table.begin(A1, 3);
      await expect(other.begin(B2, 4)).rejects.toThrow('must be 3');
      await expect(table.begin(A1, 0)).rejects.toThrow('whole number');
      // The refused term has not begun.
      await (await table.begin(A1, 3)).assign([]);
    });

    it('raises the epoch of a slot with each change of its owner, and with nothing else', async () => {
      const leader = await table.begin(A1, 2);
      const epochs: number[] = [];
      for (const [owner, standby] of [
        ['x', ''],
        ['x', 'y'],
        ['y', 'x'],
        ['x', 'y'],
        ['', ''],
      ] as const) {
        const after = await leader.assign([{ slot: 1, owner, standby }]);
        expect(await other.read()).toEqual(after);
        expect(after).toEqual([
          { owner: '', standby: '', epoch: 0 },
          { owner, standby, epoch: after[1]!.epoch },
        ]);
        epochs.push(after[1]!.epoch);
      }
      expect(epochs).toEqual([1, 1, 2, 3, 4]);
    });

    it('changes nothing when the same changes are made once more', async () => {
      const leader = await table.begin(A1, 2);
      const changes = [
        { slot: 0, owner: 'x', standby: 'y' },
        { slot: 1, owner: 'y', standby: 'x' },
      ];
      const once = await leader.assign(changes);
      expect(once.map(({ epoch }) => epoch)).toEqual([1, 1]);
      expect(await leader.assign(changes)).toEqual(once);
    });

    it('makes all changes or none', async () => {
      const leader = await table.begin(A1, 2);
      const change = { owner: 'x', standby: 'y' };
      await expect(
        leader.assign([
          { slot: 0, ...change },
          { slot: 2, ...change },
        ]),
      ).rejects.toThrow('no slot 2');
      expect((await other.read())[0]).toEqual({ owner: '', standby: '', epoch: 0 });
    });

    it('refuses every change of a term once a newer one has begun, which goes on from what there is', async () => {
      const old = await table.begin(A1, 1);
      const before = await old.assign([{ slot: 0, owner: 'x', standby: 'y' }]);
      const leader = await other.begin(B2, 1);
      expect(leader.slots).toEqual(before);
      await expect(old.assign([{ slot: 0, owner: 'z', standby: '' }])).rejects.toMatchObject(refused(2));
      expect(await table.read()).toEqual(before);
      await leader.assign([{ slot: 0, owner: 'y', standby: '' }]);
    });

    it('lets no term begin after a newer one, nor the same epoch of another holder', async () => {
      await table.begin(A1, 1);
      await expect(other.begin(B1, 1)).rejects.toMatchObject(refused(1));
      await other.begin(B2, 1);
      await expect(table.begin(A1, 1)).rejects.toMatchObject(refused(2));
      await (await other.begin(B2, 1)).assign([]);
    });

    it('refuses a term of which the store knows nothing any more', async () => {
      const putBack = await subject.saved();
      const leader = await table.begin(A1, 1);
      await putBack();
      await expect(leader.assign([])).rejects.toMatchObject(refused(0));
    });

    it('knows the replicas that take slots, each by its last report', async () => {
      expect(await table.members()).toEqual([]);
      await table.report('x', []);
      await other.report('y', [0, 12]);
      await table.report('x', [1]);
      expect(byName(await other.members())).toMatchObject([
        { replica: 'x', current: [1] },
        { replica: 'y', current: [0, 12] },
      ]);
    });

    it('forgets a replica that leaves, and one whose process dies', async () => {
      await table.report('x', [1]);
      await other.report('y', [2]);
      await table.report('z', [3]);
      await table.leave('z');
      await subject.dies(other, 'y');
      await waitFor(async () => (await table.members()).length === 1);
      expect(await table.members()).toMatchObject([{ replica: 'x', current: [1] }]);
    });

    it('gives each report another id, also one that says nothing new, so that a silent replica is told from one that lives', async () => {
      await table.report('x', [1]);
      const idNow = async (): Promise<string | undefined> => (await other.members())[0]?.id;
      const first = await idNow();
      expect(await idNow()).toBe(first);
      await waitFor(async () => {
        await table.report('x', [1]);
        return (await idNow()) !== first;
      });
    });

    it('removes a silent replica, and leaves one that has reported since', async () => {
      await table.report('x', [1]);
      await table.report('y', [2]);
      const reports = await other.members();
      await table.report('y', [3]);
      for (const report of reports) await other.forget(report);
      expect(await table.members()).toMatchObject([{ replica: 'y', current: [3] }]);
      await table.report('x', [1]);
      expect(await table.members()).toHaveLength(2);
    });

    it('wakes those who wait for replicas where one reports something new, or leaves', async () => {
      let woken = 0;
      const stop = other.onMembers(() => void woken++);
      const isWokenBy = async (act: (round: number) => Promise<void>): Promise<void> => {
        let round = 0;
        const before = woken;
        await waitFor(async () => {
          await act(round++);
          return woken > before;
        });
      };
      await isWokenBy((round) => table.report('x', [round]));
      await isWokenBy(async (round) => {
        await table.report('x', [100 + round]);
        await table.leave('x');
      });
      stop();
    });

    it('wakes those who wait for changes, on any replica, until they stop', async () => {
      let woken = 0;
      const stop = other.onChanged(() => void woken++);
      const leader = await table.begin(A1, 1);
      const assigned: AssignedSlot[] = [];
      await waitFor(async () => {
        assigned.push(...(await leader.assign([{ slot: 0, owner: `r${assigned.length}`, standby: '' }])));
        return woken > 0;
      });
      stop();
      await leader.assign([{ slot: 0, owner: 'last', standby: '' }]);
      const before = woken;
      await leader.assign([{ slot: 0, owner: 'very last', standby: '' }]);
      expect(woken).toBe(before);
    });
  });
}

function byName(members: readonly SlotMember[]): readonly SlotMember[] {
  return members.toSorted((one, other) => (one.replica < other.replica ? -1 : 1));
}
