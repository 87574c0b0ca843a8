import { describe, expect, it } from 'vitest';
import { EVICTION_ASKED, evictionAskedForMs, isEvictionToBeNoted } from './asked-eviction.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const asked = (value?: string) => ({
  metadata: { ...(value !== undefined && { annotations: { [EVICTION_ASKED]: value } }) },
});

describe('a pod that is to be evicted', () => {
  it.each([
    { value: undefined, leftMs: undefined, note: true },
    { value: '2026-01-01T12:00:00Z', leftMs: 300_000, note: false },
    { value: '2026-01-01T11:59:01Z', leftMs: 241_000, note: false },
    { value: '2026-01-01T11:58:59Z', leftMs: 239_000, note: true },
    { value: '2026-01-01T11:55:00Z', leftMs: undefined, note: true },
    { value: '2026-01-01T13:00:00Z', leftMs: 300_000, note: false },
    { value: 'node-1', leftMs: Infinity, note: false },
    { value: 'yes', leftMs: Infinity, note: false },
    { value: '', leftMs: Infinity, note: false },
  ])('is so for $leftMs ms with "$value"; a new request is noted: $note', ({ leftMs, note, value }) => {
    expect(evictionAskedForMs(asked(value), NOW)).toBe(leftMs);
    expect(isEvictionToBeNoted(asked(value), NOW)).toBe(note);
  });
});
