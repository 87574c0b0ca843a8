import { expect, it } from 'vitest';
import { errorCode, toError } from './rollkeeper-error.js';

it.each([
  [Object.assign(new Error('no such file'), { code: 'ENOENT' }), 'ENOENT'],
  [new Error('no code'), undefined],
  ['ENOENT', undefined],
  [null, undefined],
])('the code of %s is %s', (error, code) => {
  expect(errorCode(error)).toBe(code);
});

it('an Error is passed on as it is, and anything else is wrapped', () => {
  const error = new TypeError('wrong');
  expect(toError(error)).toBe(error);
  expect(toError('wrong')).toEqual(new Error('wrong'));
});
