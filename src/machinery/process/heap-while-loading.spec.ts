import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/**
 * The output of `program` in a separate process, which has the module as `heap`: the heap of the test process is
 * already set up.
 */
function run(program: string): string {
  const module = JSON.stringify(new URL('./heap-while-loading.ts', import.meta.url).href);
  const args = ['--input-type=module', '-e', `import * as heap from ${module};\n${program}`];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}

/** Size of new space in MiB after 64 MB have been retained. */
function sizeAfterWork(before: string): number {
  const size = run(`
    import { getHeapSpaceStatistics } from 'node:v8';
    ${before}
    const kept = [];
    for (let index = 0; index < 1_000_000; index++) kept.push({ index, text: [index] });
    const { space_size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    console.log(kept.length > 0 ? space_size / 1024 / 1024 : 0);
  `);
  return Number(size);
}

/** Whether an unreferenced object is still in memory. */
function remains(before: string): string {
  return run(`
    import { setImmediate as turn } from 'node:timers/promises';
    const left = new WeakRef({});
    await turn();
    ${before}
    console.log(left.deref() !== undefined);
  `);
}

describe('the heap of a process that loads', () => {
  it('has a young generation that grows with what is kept, as V8 has it', () => {
    expect(sizeAfterWork('')).toBeGreaterThan(8);
  });

  it('has one of its first size for as long as that', () => {
    expect(sizeAfterWork('heap.keepHeapSmallWhileLoading();')).toBeLessThan(4);
  });

  it('has one that grows again once it is loaded', () => {
    expect(sizeAfterWork('heap.keepHeapSmallWhileLoading(); heap.heapIsLoaded();')).toBeGreaterThan(8);
  });

  it('may be told how far it grows before it is collected again', () => {
    // The peak memory in MiB while all but 40 MB is garbage. Uses arrays too large for the young generation's pages:
    // for small objects the result depends on when V8 compiles the loop.
    const most = (growsByPercent: string): number =>
      Number(
        run(`
          heap.keepHeapSmallWhileLoading();
          heap.heapIsLoaded(${growsByPercent});
          const kept = [];
          let most = 0;
          for (let index = 0; index < 1500; index++) {
            kept[index % 200] = new Array(25_000).fill(index);
            if (index % 20 === 0) most = Math.max(most, process.memoryUsage().heapTotal);
          }
          console.log(most / 1024 / 1024);
        `),
      );
    expect(most('20')).toBeLessThan(most('400'));
  });

  it('is rid of what loading has left behind where its growth is bounded, once', () => {
    expect(remains('heap.keepHeapSmallWhileLoading();')).toBe('true');
    expect(remains('heap.keepHeapSmallWhileLoading(); heap.heapIsLoaded(50);')).toBe('false');
    expect(remains('heap.heapIsLoaded(50);')).toBe('true');
  });
});
