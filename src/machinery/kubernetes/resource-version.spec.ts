import { describe, expect, it } from 'vitest';
import {
  compareResourceVersions,
  isComparableResourceVersion,
  isOnlyMetByList,
  newerResourceVersion,
} from './resource-version.js';

describe('compareResourceVersions', () => {
  it.each([
    ['9', '10', -1],
    ['10', '9', 1],
    ['7', '7', 0],
    ['340282366920938463463374607431768211456', '340282366920938463463374607431768211455', 1],
    ['0', '1', -1],
  ])('%s to %s is %i: numbers of any length', (a, b, sign) => {
    expect(Math.sign(compareResourceVersions(a, b) ?? Number.NaN)).toBe(sign);
  });

  it('knows nothing of opaque ones but equality', () => {
    expect(compareResourceVersions('a1', 'a2')).toBeUndefined();
    expect(compareResourceVersions('a1', '2')).toBeUndefined();
    expect(compareResourceVersions('010', '10'), 'leading zeros are no numbers of ours').toBeUndefined();
    expect(compareResourceVersions('a1', 'a1')).toBe(0);
  });
});

describe('newerResourceVersion', () => {
  it('is the newer, or the one that is there', () => {
    expect(newerResourceVersion('9', '10')).toBe('10');
    expect(newerResourceVersion(undefined, 'a1')).toBe('a1');
    expect(newerResourceVersion('a1', undefined)).toBe('a1');
    expect(newerResourceVersion('a1', 'a1')).toBe('a1');
  });

  it('names a pair that has no order by something that no server says', () => {
    const both = newerResourceVersion('a1', 'a2');
    expect(isOnlyMetByList(both)).toBe(true);
    expect(isComparableResourceVersion(both)).toBe(false);
    expect(newerResourceVersion('a1', 'a3'), 'another pair').not.toBe(both);
    expect(newerResourceVersion('a1', 'a2'), 'the same on every replica').toBe(both);
    expect(isOnlyMetByList('a1')).toBe(false);
  });
});
