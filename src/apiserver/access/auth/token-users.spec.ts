import { describe, expect, it } from 'vitest';
import { parseTokenUsers, userOfToken } from './token-users.js';

describe('a file of users', () => {
  it('has a line for each, as kube-apiserver’s', () => {
    const users = parseTokenUsers('# people\nt1,jane,7,"dev, ops"\r\n\nt2,bob\nt3,"o""neil",,solo\n');
    expect(users.map(userOfToken)).toEqual([
      { username: 'jane', uid: '7', groups: ['dev', 'ops', 'system:authenticated'] },
      { username: 'bob', groups: ['system:authenticated'] },
      { username: 'o"neil', groups: ['solo', 'system:authenticated'] },
    ]);
  });

  it.each([
    ['t1', /line 1 is not token,name/],
    ['t1,jane\n,bob', /line 2 is not token,name/],
    ['t1,"jane', /line 1 is not token,name/],
    ['t1,jane\nt1,bob', /one token for two users/],
  ])('is refused if it says %j', (text, problem) => {
    expect(() => parseTokenUsers(text)).toThrow(problem);
  });
});
