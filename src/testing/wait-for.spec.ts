import { describe, expect, it } from 'vitest';
import { waitFor } from './wait-for.js';

describe('a wait on the real clock', () => {
  const never = (): false => false;

  it('looks at least once, and gives what it was answered', async () => {
    expect(await waitFor(() => 7, { timeoutMs: 0 })).toBe(7);
  });

  it('tells what was waited for in vain, and for how long', async () => {
    await expect(waitFor(never, { timeoutMs: 1, intervalMs: 1, what: 'rain' })).rejects.toThrow(
      /^waited \d+ ms for rain$/,
    );
  });

  it('looks again and again until there is something', async () => {
    let looks = 0;
    expect(await waitFor(() => ++looks === 3 && 'there', { intervalMs: 1 })).toBe('there');
    expect(looks).toBe(3);
  });
});
