import { describe, expect, it } from 'vitest';
import type { SelectableDevice } from './compile-device-selector.js';
import { compileDeviceSelector } from './compile-device-selector.js';

const device: SelectableDevice = {
  driver: 'gpu.example.com',
  attributes: {
    model: { string: 'a' },
    slots: { int: 4 },
    shared: { bool: true },
    firmware: { version: '1.10.0-rc.2' },
    'numa.example.com/node': { int: 1 },
  },
  capacity: { memory: { value: '16Gi' } },
  allowMultipleAllocations: true,
};

describe('a device is selected', () => {
  it.each<[expression: string, is: boolean]>([
    ['device.driver == "gpu.example.com"', true],
    ['device.attributes["gpu.example.com"].model == "a"', true],
    ['device.attributes["gpu.example.com"].model == "b"', false],
    ['device.attributes["gpu.example.com"].slots >= 4 && device.attributes["gpu.example.com"].shared', true],
    ['device.attributes["numa.example.com"].node == 1', true],
    ['has(device.attributes["unknown.example.com"].a)', false],
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("8Gi")) > 0', true],
    ['device.capacity["gpu.example.com"].memory.isLessThan(quantity("8Gi"))', false],
    ['device.attributes["gpu.example.com"].firmware.isLessThan(semver("1.10.0"))', true],
    ['device.attributes["gpu.example.com"].firmware.isGreaterThan(semver("1.9.3"))', true],
    ['device.allowMultipleAllocations', true],
    ['cel.bind(own, device.attributes["gpu.example.com"], own.shared && own.model == "a")', true],
  ])('%s: %s', (expression, is) => {
    expect(compileDeviceSelector(expression)(device)).toBe(is);
  });

  it.each([
    ['semver("1.2.3").compareTo(semver("1.2.3-alpha")) == 1', true],
    ['semver("1.2.3-alpha.2").isLessThan(semver("1.2.3-alpha.10"))', true],
    ['semver("1.2.3-1").isLessThan(semver("1.2.3-a"))', true],
    ['semver("1.2.3+x") == semver("1.2.3+y")', true],
    ['isSemver("1.2") || isSemver("01.2.3")', false],
    ['isSemver("v01.2", true) && semver("v01.2", true).minor() == 2', true],
  ])('versions: %s: %s', (expression, is) => {
    expect(compileDeviceSelector(expression)(device)).toBe(is);
  });

  it('never by an expression that cannot be compiled', () => {
    expect(() => compileDeviceSelector('device.nothing == 1')).toThrow('CEL compile error');
  });

  it.each([
    ['device.attributes["gpu.example.com"].missing == 1', 'CEL runtime error'],
    ['device.attributes["gpu.example.com"].model', 'the result is no bool'],
  ])('never by one that fails on it: %s', (expression, problem) => {
    expect(() => compileDeviceSelector(expression)(device)).toThrow(problem);
  });
});
