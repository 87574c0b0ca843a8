import { describe, expect, it } from 'vitest';
import { bearerTokenCheck } from './bearer-token.js';

const check = bearerTokenCheck('sesame');

describe('the check of a bearer token', () => {
  it.each(['Bearer sesame', 'bearer sesame', 'Bearer  sesame '])('lets in who says %j', (header) => {
    expect(check(header)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'sesame',
    'Bearer',
    'Bearer ',
    'Bearer sesamf',
    'Bearer sesame2',
    'Basic sesame',
    'Bearer sesame x',
  ])('keeps out who says %j', (header) => {
    expect(check(header)).toBe(false);
  });
});
