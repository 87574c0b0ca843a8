import { expect, it } from 'vitest';
import { runSlotTableContract } from '../../testing/slot-table-contract.js';
import type { AssignedSlot } from './index.js';
import { MemorySlotTable } from './index.js';

runSlotTableContract('MemorySlotTable', async () => {
  const table = new MemorySlotTable();
  return {
    table: () => table,
    dies: async (_table, replica) => table.dies(replica),
    saved: async () => {
      const slots: readonly AssignedSlot[] = await table.read();
      return async () => table.loseData(slots);
    },
    stop: async () => table.close(),
  };
});

it('a table of slots wakes no waiter if an assignment changes nothing', async () => {
  const table = new MemorySlotTable();
  const leader = await table.begin({ epoch: 1, holder: 'a' }, 1);
  let woken = 0;
  table.onChanged(() => void woken++);
  await leader.assign([]);
  expect(woken).toBe(0);
});
