import { expect, it } from 'vitest';
import { parseDeletionCost } from './pod-deletion-cost.js';

it.each([
  ['0', 0],
  ['7', 7],
  ['-7', -7],
  ['-007', -7],
  ['2147483647', 2147483647],
  ['-2147483648', -2147483648],
  ['2147483648', undefined],
  ['+7', undefined],
  ['007', undefined],
  ['1.5', undefined],
  [' 1', undefined],
  ['-', undefined],
  ['', undefined],
])('the cost %j is %s', (text, cost) => {
  expect(parseDeletionCost(text)).toBe(cost);
});
