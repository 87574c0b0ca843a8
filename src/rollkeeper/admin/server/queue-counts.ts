import type { WorkQueueCounts } from '@rollkeeper/runtime/work-queue';

/** The counts of a queue whose keys several replicas have in their memory. */
export function addedCounts(all: readonly WorkQueueCounts[]): WorkQueueCounts {
  const sum = (field: keyof WorkQueueCounts): number => all.reduce((total, each) => total + each[field], 0);
  return {
    ...{ waiting: sum('waiting'), active: sum('active') },
    ...{ delayed: sum('delayed'), parked: sum('parked') },
  };
}
