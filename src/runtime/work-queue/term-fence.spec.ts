import { describe, expect, it } from 'vitest';
import { isCurrent, mayBegin } from './term-fence.js';

const A2 = { epoch: 2, holder: 'a' };

describe('the fence of terms', () => {
  it('lets a term begin after an older one, again, and where none has begun', () => {
    expect([undefined, { epoch: 1, holder: 'b' }, A2].map((current) => mayBegin(current, A2))).toEqual([
      ...[true, true, true],
    ]);
  });

  it('lets none begin after a newer one, or after that of another holder with the same epoch', () => {
    expect(
      [
        { epoch: 3, holder: 'a' },
        { epoch: 2, holder: 'b' },
      ].map((current) => mayBegin(current, A2)),
    ).toEqual([...[false, false]]);
  });

  it('accepts the effects of the term that has begun last alone', () => {
    expect(isCurrent(A2, A2)).toBe(true);
    for (const other of [
      undefined,
      { epoch: 3, holder: 'a' },
      { epoch: 1, holder: 'a' },
      { epoch: 2, holder: 'b' },
    ])
      expect(isCurrent(other, A2)).toBe(false);
  });
});
