import type { CDPSession } from 'playwright-core';

/** The memory of a page after its garbage was collected. */
export interface PageMemory {
  /** MiB. */
  readonly heap: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** @param session of the page, with `Performance.enable` sent */
export async function memoryOfPage(session: CDPSession): Promise<PageMemory> {
  // Twice: what a finalizer frees goes with the second.
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { metrics } = await session.send('Performance.getMetrics');
  const named = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return { heap: usedSize / 2 ** 20, nodes: named('Nodes'), listeners: named('JSEventListeners') };
}

/** By least squares, per step. */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const products = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0);
  const squares = values.reduce((sum, _value, index) => sum + (index - middle) ** 2, 0);
  return squares === 0 ? 0 : products / squares;
}
