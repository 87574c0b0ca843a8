// `node --test`
import { test } from 'node:test';
import { WAYS, goesOnWhenItsLeaderIsKilled, rollsOutAWebsite } from './scenario.js';

test('a Website is rolled out', rollsOutAWebsite);

for (const each of WAYS)
  test(`Websites are rolled out although the leader is killed: ${each.way}`, () =>
    goesOnWhenItsLeaderIsKilled(each));
