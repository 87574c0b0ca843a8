import { describe, expect, it } from 'vitest';
import { findProgram } from './exec-plugin.js';

describe('the program that a kubeconfig names', () => {
  const canRun =
    (...files: string[]) =>
    (file: string) =>
      files.includes(file);

  it('is the first one in an absolute folder of PATH', () => {
    const there = canRun('plugin', 'bin/plugin', '/usr/bin/plugin', '/bin/plugin');
    for (const path of ['/usr/bin:/bin', '.:/usr/bin', ':/usr/bin', 'bin:/usr/bin', '/opt:/usr/bin:.'])
      expect(findProgram('plugin', path, there)).toBe('/usr/bin/plugin');
  });

  it.each(['.', '', 'bin', '../x'])('is none in the relative folder %j', (path) => {
    const there = canRun('plugin', 'bin/plugin', '../x/plugin');
    expect(() => findProgram('plugin', path, there)).toThrow('only a relative folder of PATH has this');
  });

  it('is missing where no folder has it, or there is no PATH', () => {
    expect(() => findProgram('plugin', '/bin', canRun())).toThrow('plugin: no folder of PATH has');
    expect(() => findProgram('plugin', undefined, canRun())).toThrow('no folder of PATH has');
  });

  it('is a path as it is', () => {
    expect(findProgram('/home/me/plugin', '/bin', canRun())).toBe('/home/me/plugin');
  });
});
