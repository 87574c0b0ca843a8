import { describe, expect, it } from 'vitest';
import { BatchSize } from './batch-size.js';
import type { LogEntry } from './log-entry.js';
import { LogLength } from './log-length.js';

function entry(revision: number, length: number): LogEntry {
  const key = { resource: 'pods', namespace: 'default', name: 'p' };
  const text = 'x'.repeat(length);
  return {
    type: 'created',
    key,
    revision,
    previousRevision: revision - 1,
    text,
    writeId: '',
    previousWriteId: '',
  };
}

describe('LogLength', () => {
  it('returns up to where the log is to be forgotten once it is too long', () => {
    const log = new LogLength({ maxEntries: 1000, maxLength: 100 });
    expect(log.add([entry(1, 40), entry(2, 40)])).toBeUndefined();
    expect(log.add([entry(3, 40)])).toBe(1);
    expect(log.add([entry(4, 100)])).toBe(3);
  });

  it('keeps the last entry however long it is', () => {
    const log = new LogLength({ maxEntries: 1000, maxLength: 10 });
    expect(log.add([entry(1, 500)])).toBeUndefined();
    expect(log.add([entry(2, 500)])).toBe(1);
  });

  it('holds as many entries as are in the log, however many there were', () => {
    const log = new LogLength({ maxEntries: 5000, maxLength: 1000 });
    for (let revision = 1; revision <= 5000; revision++) {
      expect(log.add([entry(revision, 10)])).toBe(revision > 100 ? revision - 100 : undefined);
    }
    expect(log.size).toBe(100);
  });

  it('counts no entries that have left the log because there were too many', () => {
    const log = new LogLength({ maxEntries: 50, maxLength: 1000 });
    for (let revision = 1; revision <= 5000; revision++) {
      expect(log.add([entry(revision, 10)])).toBeUndefined();
      expect(log.size).toBeLessThanOrEqual(50);
    }
    expect(log.add([entry(5001, 900)])).toBe(4990);
  });
});

describe('BatchSize', () => {
  it('asks for fewer entries the longer they are, for one at least', () => {
    const size = new BatchSize(256, 1024 * 1024);
    expect(size.count).toBe(16);
    size.learn([entry(1, 100)]);
    expect(size.count).toBe(256);
    size.learn([entry(1, 100 * 1024)]);
    expect(size.count).toBe(10);
    size.learn([entry(1, 3 * 1024 * 1024)]);
    expect(size.count).toBe(1);
    size.learn([]);
    expect(size.count).toBe(1);
  });
});
