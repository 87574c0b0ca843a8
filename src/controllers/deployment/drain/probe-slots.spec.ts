import { describe, expect, it } from 'vitest';
import { ProbeSlots } from './drain-controller.js';

describe('slots for probes', () => {
  it('are left to other namespaces by pods of one that do not answer, and come back', async () => {
    const slots = new ProbeSlots(3, 2);
    const { promise: silence, resolve: answer } = Promise.withResolvers<string>();
    const hanging = [slots.run('a', () => silence), slots.run('a', () => silence)];
    expect(await slots.run('a', () => Promise.resolve('asked'))).toBeUndefined();
    expect(await slots.run('b', () => Promise.resolve('asked'))).toBe('asked');
    const third = slots.run('b', () => silence);
    expect(await slots.run('c', () => Promise.resolve('asked'))).toBeUndefined();
    answer('asked');
    expect(await Promise.all([...hanging, third])).toEqual(['asked', 'asked', 'asked']);
    expect(await slots.run('a', () => Promise.resolve('asked'))).toBe('asked');
  });

  it('come back after a probe that fails', async () => {
    const slots = new ProbeSlots(1, 1);
    await expect(slots.run('a', () => Promise.reject(new Error('stopped')))).rejects.toThrow('stopped');
    expect(await slots.run('a', () => Promise.resolve(1))).toBe(1);
  });
});
