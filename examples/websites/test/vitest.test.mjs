// `npx vitest run`
import { test } from 'vitest';
import { WAYS, goesOnWhenItsLeaderIsKilled, rollsOutAWebsite } from './scenario.js';

test('a Website is rolled out', rollsOutAWebsite, 60_000);

test.each(WAYS)(
  'Websites are rolled out although the leader is killed: $way',
  goesOnWhenItsLeaderIsKilled,
  180_000,
);
