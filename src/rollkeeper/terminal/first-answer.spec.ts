import { describe, expect, it } from 'vitest';
import { ApiConnectionError, ApiStatusError, fixedCredentials } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import type { FirstAnswerOptions } from './first-answer.js';
import { FIRST_ANSWER_MS, firstAnswer, patienceOf } from './first-answer.js';

type Client = FirstAnswerOptions['client'];
type Readiness = Client['readiness'];
type ServerInfo = Client['serverInfo'];

const never = () => new Promise<never>(() => undefined);
const refused = () => Promise.reject(new ApiConnectionError('GET /version: ECONNREFUSED'));
const says =
  (status: number, failing: readonly string[] = []) =>
  async () => ({ status, failing });
const version = async () => ({ version: 'v1.36.2' });

async function answerOf(readiness: Readiness, serverInfo: ServerInfo) {
  const clock = new FakeClock();
  const asked = firstAnswer({
    clock,
    client: { readiness, serverInfo },
    connection: { serverUrl: 'https://api.example', credentials: fixedCredentials({}) },
  }).catch((error: Error) => error.message);
  await clock.advance(FIRST_ANSWER_MS - 1);
  await clock.advance(1);
  const answer = await asked;
  expect(clock.pendingTimers).toBe(0);
  return answer;
}

it('is waited for longer on a machine that is slow to start the program, within bounds', () => {
  expect([300, 900, 2012, 60_000].map(patienceOf)).toEqual([1800, 1800, 4000, 5000]);
});

describe('the first answer of an API server', () => {
  it.each<[string, Readiness, ServerInfo]>([
    ['it says so', says(200), version],
    ['the user may not see whether it is', says(403), version],
    ['it has no such page', says(404), never],
  ])('means that it is ready if %s', async (_name, readiness, serverInfo) => {
    expect(await answerOf(readiness, serverInfo)).toEqual({ isReady: true, why: '' });
  });

  it.each<[string, Readiness, ServerInfo, string]>([
    ['names the check that fails', says(500, ['etcd', 'shutdown']), version, 'etcd, shutdown'],
    ['says 503 to everything', says(503), refused, 'its /readyz answers 503'],
    [
      'answers anything but that',
      never,
      version,
      `its /readyz does not answer: nothing came for ${FIRST_ANSWER_MS / 1000} s`,
    ],
    [
      'refuses all else',
      refused,
      () => Promise.reject(new ApiStatusError({ code: 401 })),
      'its /readyz does not answer: GET /version: ECONNREFUSED',
    ],
  ])('means that it is not ready if it %s', async (_name, readiness, serverInfo, why) => {
    expect(await answerOf(readiness, serverInfo)).toEqual({ isReady: false, why });
  });

  it.each<[string, Readiness, ServerInfo, string]>([
    ['accepts and never answers', never, never, `nothing came for ${FIRST_ANSWER_MS / 1000} s`],
    ['closes its port', refused, refused, 'GET /version: ECONNREFUSED'],
  ])('is missing if it %s, which is one line with its address', async (_name, readiness, info, why) => {
    expect(await answerOf(readiness, info)).toBe(
      `the API server at https://api.example does not answer: ${why}; rollkeeper doctor shows what does`,
    );
  });
});
