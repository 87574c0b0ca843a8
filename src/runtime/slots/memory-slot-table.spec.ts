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
