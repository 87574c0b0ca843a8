import { describe, expect, it } from 'vitest';
import { ApiStatusError } from './api-status-error.js';
import { ApiConnectionError, ApiProtocolError } from './transport-errors.js';
import { writeAnswerOf } from './write-answer.js';

const coded = (code: string): Error => Object.assign(new Error(code), { code });
const broken = (cause: Error): Error => new ApiConnectionError('PUT /apis: broken', { cause });
const status = (code: number, details?: { retryAfterSeconds: number }): Error =>
  new ApiStatusError({ code, reason: 'any', details });

describe('the outcome of a write that did not succeed', () => {
  it.each([
    ['a refusal by its content', status(422)],
    ['a conflict', status(409)],
    ['a server that asks for another try before any work', status(503, { retryAfterSeconds: 1 })],
    ['too many requests', status(429)],
    ['a connection that was refused', broken(coded('ECONNREFUSED'))],
    ['a host that is not known', broken(new Error('fetch failed', { cause: coded('ENOTFOUND') }))],
  ])('it was not stored: %s', (_name, error) => {
    expect(writeAnswerOf(error)).toBe('refused');
  });

  it.each([
    ['an internal error', status(500)],
    ['a proxy without a server', status(502)],
    ['a server that does not say when to come back', status(503)],
  ])('the server has ended its work on it, and no more is known: %s', (_name, error) => {
    expect(writeAnswerOf(error)).toBe('failed');
  });

  it.each([
    ['a connection that broke', broken(coded('ECONNRESET'))],
    ['an answer in another language', new ApiProtocolError('not JSON')],
    ['a wait that ran out, here', new Error('too slow')],
    ['a wait that ran out, at the server', status(504)],
  ])('the server may still be at work on it: %s', (_name, error) => {
    expect(writeAnswerOf(error)).toBe('none');
  });
});
