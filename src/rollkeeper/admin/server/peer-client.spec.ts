import { errors } from 'undici';
import { expect, it } from 'vitest';
import { peerProblem } from './peer-client.js';

it.each([new errors.BodyTimeoutError(), new errors.HeadersTimeoutError()])(
  'says in plain words that a replica is silent, for %s',
  (error) => {
    expect(peerProblem(error)).toBe('nothing has come from it for too long');
  },
);
