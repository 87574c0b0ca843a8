// `NODE_OPTIONS=--experimental-vm-modules npx jest`: the kit is ES modules.
import { test } from '@jest/globals';
import { WAYS, goesOnWhenItsLeaderIsKilled, rollsOutAWebsite } from './scenario.js';

test('a Website is rolled out', rollsOutAWebsite, 60_000);

test.each(WAYS)(
  'Websites are rolled out although the leader is killed: $way',
  goesOnWhenItsLeaderIsKilled,
  180_000,
);
