import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { DeploymentSummary } from './console-summary.js';
import { MergedRows } from './merged-rows.js';

/** Only the key matters. */
function row(key: string): DeploymentSummary {
  return { key } as DeploymentSummary;
}

describe('the rows of a viewer from several replicas', () => {
  let clock: FakeClock;
  let rows: MergedRows;

  beforeEach(() => {
    clock = new FakeClock();
    rows = new MergedRows(clock);
    rows.take('r0', { changed: [row('shop/web')], gone: [] });
  });

  it('go when their replica says that they were deleted', () => {
    expect(rows.take('r0', { changed: [], gone: ['shop/web'] }).gone).toEqual(['shop/web']);
  });

  it('stay when the old owner says so after the new one has told of them', () => {
    rows.take('r1', { changed: [row('shop/web')], gone: [] });
    expect(rows.take('r0', { changed: [], gone: ['shop/web'] }).gone).toEqual([]);
  });

  it('stay while their slot is on its way to another replica', async () => {
    expect(rows.take('r0', { changed: [], gone: [], left: ['shop/web'] }).gone).toEqual([]);
    await clock.advance(2000);
    rows.take('r1', { changed: [row('shop/web')], gone: [] });
    await clock.advance(10_000);
    expect(rows.expired()).toEqual([]);
  });

  it.each([
    ['left', () => rows.take('r0', { changed: [], gone: [], left: ['shop/web'] })],
    ['fell silent', () => rows.lose('r0')],
  ])('go once no other replica has told of them for three seconds after theirs %s', async (_why, end) => {
    end();
    await clock.advance(2900);
    expect(rows.expired()).toEqual([]);
    await clock.advance(200);
    expect(rows.expired()).toEqual(['shop/web']);
    expect(rows.expired()).toEqual([]);
  });

  it('stay when their replica answers again', async () => {
    rows.lose('r0');
    rows.take('r0', { changed: [row('shop/web')], gone: [] });
    await clock.advance(5000);
    expect(rows.expired()).toEqual([]);
  });
});
