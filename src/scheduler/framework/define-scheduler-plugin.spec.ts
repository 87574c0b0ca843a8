import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../machinery/logging/index.js';
import { defineSchedulerPlugin } from './define-scheduler-plugin.js';
import type { PluginHandle } from './plugin.js';

const handle: PluginHandle = { view: { get: () => undefined, list: () => [] }, log: silentLogger };

describe('a plug-in of one’s own', () => {
  it('has its name, its weight and its points', () => {
    const plugin = defineSchedulerPlugin({ name: 'Mine', weight: 3, score: (): number => 7 });
    expect([plugin.name, plugin.weight]).toEqual(['Mine', 3]);
    expect(plugin.create(undefined, handle)).toMatchObject({ name: 'Mine' });
  });

  it('may be built from its arguments, for each profile', () => {
    const plugin = defineSchedulerPlugin({
      name: 'Mine',
      setup: (args) => ({ filter: () => ({ code: 'Unschedulable', reasons: [String(args)] }) }),
    });
    const built = plugin.create('a', handle);
    expect(built.filter?.({} as never, {} as never, undefined)?.reasons).toEqual(['a']);
  });

  it('is told which arguments it does not take', () => {
    const plugin = defineSchedulerPlugin({ name: 'Mine', score: (): number => 7 });
    expect(() => plugin.create({ a: 1 }, handle)).toThrow('Mine takes no arguments');
  });

  it.each([
    [{ name: 'no spaces', score: (): number => 1 }, 'name: "no spaces" is not a name'],
    [{ name: 'Mine', weight: 0, score: (): number => 1 }, 'weight: 0 is not a whole number from 1'],
    [{ name: 'Mine' }, 'Mine: takes part at no point'],
  ])('is refused by its field if it is wrong', (spec, message) => {
    expect(() => defineSchedulerPlugin(spec)).toThrow(message);
  });
});
