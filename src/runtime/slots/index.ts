export { decideSlots } from './decide-slots.js';
export type { SlotsSeen } from './decide-slots.js';
export { MemorySlotTable, assertCount, otherCount } from './memory-slot-table.js';
export { NO_REPLICA } from './slot-table.js';
export type { AssignedSlot, SlotAssigner, SlotChange, SlotHolders, SlotTable } from './slot-table.js';
