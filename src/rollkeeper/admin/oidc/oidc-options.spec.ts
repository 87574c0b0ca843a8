import { describe, expect, it } from 'vitest';
import type { GivenOidcOptions } from './oidc-options.js';
import { decideOidcOptions } from './oidc-options.js';

const given = (more: Partial<GivenOidcOptions> = {}): GivenOidcOptions => ({
  'oidc-issuer-url': 'https://login.example.com/realms/ops',
  'oidc-client-id': 'console',
  'oidc-scopes': '',
  'oidc-username-claim': 'sub',
  'oidc-rights': 'token',
  'console-url': 'https://rollkeeper.example.com',
  'admin-auth': 'delegated',
  ...more,
});

describe('the options of an identity provider', () => {
  it('come to a client that is sent back to the console', () => {
    expect(decideOidcOptions(given({ 'oidc-scopes': 'groups, email,openid' }))).toMatchObject({
      clientId: 'console',
      scopes: ['openid', 'groups', 'email'],
      rights: 'token',
      redirectUri: 'https://rollkeeper.example.com/console/signed-in',
      claims: { issuerUrl: 'https://login.example.com/realms/ops', usernameClaim: 'sub' },
    });
  });

  it('are none without an issuer', () => {
    const none = { 'oidc-issuer-url': undefined, 'oidc-client-id': undefined };
    expect(decideOidcOptions(given({ ...none, 'admin-auth': 'token' }))).toBeUndefined();
  });

  it.each<[option: string, given: Partial<GivenOidcOptions>]>([
    ['oidc-issuer-url', { 'oidc-issuer-url': 'http://login.example.com' }],
    ['oidc-issuer-url', { 'oidc-issuer-url': 'login.example.com' }],
    ['oidc-issuer-url', { 'oidc-issuer-url': 'https://login.example.com?realm=ops' }],
    ['oidc-issuer-url', { 'oidc-issuer-url': 'https://me:secret@login.example.com' }],
    ['oidc-client-id', { 'oidc-client-id': undefined }],
    ['oidc-client-id', { 'oidc-issuer-url': undefined }],
    ['console-url', { 'console-url': undefined }],
    ['admin-auth', { 'admin-auth': 'token' }],
    ['oidc-username-prefix', { 'oidc-username-prefix': 'system:' }],
    ['oidc-groups-prefix', { 'oidc-groups-prefix': 'system:serviceaccounts:' }],
    ['oidc-scopes', { 'oidc-scopes': 'groups,two words' }],
  ])('are refused by the name of the option: %s in %j', (option, wrong) => {
    expect(() => decideOidcOptions(given(wrong))).toThrow(option);
  });

  it('allow a provider without TLS on this machine alone', () => {
    for (const url of ['http://127.0.0.1:5556/dex', 'http://localhost:8080', 'http://[::1]:8080'])
      expect(decideOidcOptions(given({ 'oidc-issuer-url': url }))).toBeDefined();
    for (const url of ['http://127.0.0.1.example.com', 'http://localhost.example.com'])
      expect(() => decideOidcOptions(given({ 'oidc-issuer-url': url }))).toThrow('oidc-issuer-url');
  });
});
