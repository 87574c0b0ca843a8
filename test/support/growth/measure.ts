/** The cost of one run: processor time of this thread, milliseconds. */
export type Cost = () => Promise<number>;

export interface Growth {
  readonly smallMs: number;
  readonly largeMs: number;
}

/** Below this cost nothing that grows can be told from chance. */
const TELLING_MS = 60;

/**
 * Whether the cost of something eight times as large is far more than eight times the cost. What is cheap is not steep. A
 * first measurement that looks like it is repeated, and the least of each counts: chance makes a run dearer, and never
 * cheaper.
 */
export async function growth(small: Cost, large: Cost): Promise<Growth & { readonly isSteep: boolean }> {
  let largeMs = await large();
  if (largeMs <= TELLING_MS) return { smallMs: 0, largeMs, isSteep: false };
  let smallMs = await small();
  for (let run = 0; run < 4 && isSteep({ smallMs, largeMs }); run++) {
    smallMs = Math.min(smallMs, await small());
    largeMs = Math.min(largeMs, await large());
  }
  return { smallMs, largeMs, isSteep: isSteep({ smallMs, largeMs }) };
}

/** Eight times the size costs 64 times as much where the cost is quadratic, and eight times where it is linear. */
function isSteep({ largeMs, smallMs }: Growth): boolean {
  return largeMs > TELLING_MS && largeMs > 20 * Math.max(smallMs, 2);
}

/** The processor time that this thread spends until the promise resolves, milliseconds. */
export async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { system, user } = process.threadCpuUsage(before);
  return (system + user) / 1000;
}
