import { describe, expect, it } from 'vitest';
import { NO_SLOT_MS, NamespaceSlots } from './namespace-slots.js';

describe('slots for requests', () => {
  it('are left to other namespaces by requests of one that are not answered, and come back', async () => {
    const slots = new NamespaceSlots({ inAll: 3, ofNamespace: 2 });
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

  it('come back after a request that fails', async () => {
    const slots = new NamespaceSlots({ inAll: 1, ofNamespace: 1 });
    await expect(slots.run('a', () => Promise.reject(new Error('stopped')))).rejects.toThrow('stopped');
    expect(await slots.run('a', () => Promise.resolve(1))).toBe(1);
  });

  it('are looked for ever more rarely by one that finds none, and soon again once none is open', async () => {
    const slots = new NamespaceSlots({ inAll: 1, ofNamespace: 1 });
    const { promise: silence, resolve: answer } = Promise.withResolvers<string>();
    const hanging = slots.run('a', () => silence);
    const waits = Array.from({ length: 6 }, () => slots.waitOf('b/one', 'b'));
    expect(waits).toEqual([1, 2, 4, 8, 16, 16].map((times) => times * NO_SLOT_MS));
    answer('asked');
    await hanging;
    expect(slots.waitOf('b/one', 'b')).toBeUndefined();
    const again = slots.run('a', () => new Promise<never>(() => undefined));
    expect(slots.waitOf('b/one', 'b')).toBe(NO_SLOT_MS);
    void again;
  });
});
