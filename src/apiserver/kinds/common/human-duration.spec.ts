import { describe, expect, it } from 'vitest';
import { ageSince, humanDuration } from './human-duration.js';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;

describe('humanDuration', () => {
  it.each([
    [-3 * S, '<invalid>'],
    [-1 * S, '0s'],
    [0, '0s'],
    [119 * S, '119s'],
    [120 * S, '2m'],
    [4 * M + 10 * S, '4m10s'],
    [10 * M + 10 * S, '10m'],
    [179 * M, '179m'],
    [3 * H, '3h'],
    [7 * H + 5 * M, '7h5m'],
    [8 * H + 5 * M, '8h'],
    [47 * H, '47h'],
    [2 * D, '2d'],
    [5 * D + 2 * H, '5d2h'],
    [8 * D + 2 * H, '8d'],
    [729 * D, '729d'],
    [730 * D, '2y'],
    [(2 * 365 + 30) * D, '2y30d'],
    [(9 * 365 + 30) * D, '9y'],
  ])('shows %i ms as %s', (ms, shown) => {
    expect(humanDuration(ms)).toBe(shown);
  });

  it('shows an unknown beginning as such', () => {
    expect(ageSince(undefined, 0)).toBe('<unknown>');
    expect(ageSince('1970-01-01T00:00:00Z', 5 * S)).toBe('5s');
  });
});
