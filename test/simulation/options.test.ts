import { expect, it } from 'vitest';
import { USAGE, simulationOptionsOf } from './options.js';

it('reads numbers and flags', () => {
  expect(simulationOptionsOf(['--dense', '--seed', '81', '--seconds=240'])).toMatchObject({
    ...{ dense: true, seed: 81, seconds: 240, trace: false, faults: undefined },
  });
});

it.each([
  [['--seed', 'none'], '--seed must be a whole number from 1 on, and is "none"'],
  [['--workers', '0'], '--workers must be a whole number from 1 on, and is "0"'],
  [['--seeds', '3'], "Unknown option '--seeds'"],
  [['--world', 'none'], '--world must be one of plain, policies, requests, lifetimes, and is "none"'],
  [['--world', 'requests', '--dense'], '--world is for seeds that are not dense'],
  [['--redis', '--faults', '10'], '--redis is for single seeds'],
])('refuses %j and names the option', (args, message) => {
  expect(() => simulationOptionsOf(args)).toThrow(message);
});

it('names each of its options in the usage', () => {
  for (const name of Object.keys(simulationOptionsOf([]))) expect(USAGE).toContain(`--${name} `);
});
