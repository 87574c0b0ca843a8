import { describe, expect, it } from 'vitest';
import { unobservedFinding } from './unobserved.js';

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString();

const severityOf = (metadata: object, observedGeneration?: number, isOld?: boolean) =>
  unobservedFinding({
    metadata: { name: 'web', ...metadata },
    observedGeneration,
    controller: 'Deployment controller',
    nowMs: NOW_MS,
    isOld,
  })?.severity;

describe('a generation that no controller has observed', () => {
  const changed = (seconds: number) => ({
    generation: 3,
    creationTimestamp: ago(600),
    managedFields: [
      { manager: 'kubectl', time: ago(500) },
      { manager: 'hpa', subresource: 'scale', time: ago(seconds) },
      { manager: 'controller', subresource: 'status', time: ago(0) },
    ],
  });

  it.each([
    ['was changed 9 s ago', changed(9), 2, 'waits'],
    ['was changed 11 s ago', changed(11), 2, 'blocked'],
    ['is observed', changed(600), 3, undefined],
    ['is the first one, created 9 s ago', { generation: 1, creationTimestamp: ago(9) }, undefined, 'waits'],
    [
      'is the first one, created 11 s ago',
      { generation: 1, creationTimestamp: ago(11) },
      undefined,
      'blocked',
    ],
    [
      'was changed at a time that a cache does not know',
      { generation: 2, creationTimestamp: ago(99) },
      1,
      'waits',
    ],
  ])('is explained for an object that %s', (_name, metadata, observed, severity) => {
    expect(severityOf(metadata, observed)).toBe(severity);
  });

  it('is stuck where a change of an unknown time is old, as for one who looks twice', () => {
    expect(severityOf({ generation: 2 }, 1, true)).toBe('blocked');
  });
});
