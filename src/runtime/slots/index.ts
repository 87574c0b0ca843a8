export { decideSlots } from './decide-slots.js';
export type { SlotsSeen } from './decide-slots.js';
export { HeldSlots } from './held-slots.js';
export type { SlotListener } from './held-slots.js';
export { MemorySlotTable, assertCount, otherCount } from './memory-slot-table.js';
export { SlotKeeper } from './slot-keeper.js';
export type { SlotCopies, SlotKeeperDependencies } from './slot-keeper.js';
export { SlotLeader } from './slot-leader.js';
export type { SlotLeaderDependencies } from './slot-leader.js';
export { MEMBER_REPORTS_EVERY_MS, NO_REPLICA } from './slot-table.js';
export type {
  AssignedSlot,
  SlotAssigner,
  SlotChange,
  SlotHolders,
  SlotMember,
  SlotReport,
  SlotTable,
} from './slot-table.js';
export { SlottedActivations } from './slotted-activations.js';
export type { SlottedActivationsParts } from './slotted-activations.js';
