import { describe, expect, it } from 'vitest';
import { isImpersonating, readImpersonation } from './impersonation.js';

describe('impersonation', () => {
  it('is requested by headers that almost no one sends', () => {
    expect(isImpersonating({ authorization: 'x' })).toBe(false);
    expect(isImpersonating({ 'impersonate-extra-a': 'x' })).toBe(true);
  });

  it('takes a user by the right to each part, and puts them among the authenticated', () => {
    const found = readImpersonation({
      'impersonate-user': ['jane'],
      'impersonate-group': ['dev', 'ops'],
      'impersonate-uid': ['7'],
      'impersonate-extra-example.com%2fscope': ['a', 'b'],
    });
    expect(found?.user).toEqual({
      username: 'jane',
      uid: '7',
      groups: ['dev', 'ops', 'system:authenticated'],
      extra: { 'example.com/scope': ['a', 'b'] },
    });
    expect(
      found?.needs.map(({ group, resource, subresource, name }) => [group, resource, subresource, name]),
    ).toEqual([
      ['', 'users', '', 'jane'],
      ['', 'groups', '', 'dev'],
      ['', 'groups', '', 'ops'],
      ['authentication.k8s.io', 'uids', '', '7'],
      ['authentication.k8s.io', 'userextras', 'example.com/scope', 'a'],
      ['authentication.k8s.io', 'userextras', 'example.com/scope', 'b'],
    ]);
  });

  it('takes a service account by the right to it in its namespace, and gives it its groups', () => {
    const found = readImpersonation({ 'impersonate-user': ['system:serviceaccount:shop:app'] });
    expect(found?.needs).toEqual([
      {
        verb: 'impersonate',
        group: '',
        resource: 'serviceaccounts',
        subresource: '',
        namespace: 'shop',
        name: 'app',
      },
    ]);
    expect(found?.user.groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:shop',
      'system:authenticated',
    ]);
  });

  it('without a user belongs to the unauthenticated', () => {
    const found = readImpersonation({ 'impersonate-user': ['system:anonymous'] });
    expect(found?.user.groups).toEqual(['system:unauthenticated']);
  });

  it('refuses groups without a user', () => {
    expect(() => readImpersonation({ 'impersonate-group': ['system:masters'] })).toThrow(
      expect.objectContaining({
        message:
          'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"system:masters"}, Extra:map[string][]string(nil)} without impersonating a user name',
        status: expect.objectContaining({ code: 400 }) as unknown,
      }),
    );
  });
});
