import { describe, expect, it } from 'vitest';
import { redactFields, redactText } from './redact.js';

describe('a log line hides', () => {
  it.each([
    ['redis://user:hunter2@redis:6379/0', 'hunter2'],
    ['rediss://:p%40ss@redis', 'p%40ss'],
    ['redis://:hunter@2@redis', '2@'],
    ['cannot reach redis+sentinel://a:b,c/main?sentinel-password=hunter2&tls=1', 'hunter2'],
    ['Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln', 'eyJhbGciOiJSUzI1NiJ9'],
    ['authorization: basic dXNlcjpodW50ZXIy', 'dXNlcjpodW50ZXIy'],
    ['WRONGPASS for AUTH default hunter2', 'hunter2'],
    ['-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----', 'MHcCAQ'],
  ])('the secret in %s', (text, secret) => {
    expect(redactText(text)).not.toContain(secret);
    expect(redactText(text)).toContain('(hidden)');
  });

  it('fields whose names tell, however deep', () => {
    const fields = {
      config: { redis: { password: 'hunter2' }, list: [{ adminToken: 'abc' }] },
      token: 't0p',
    };
    const text = JSON.stringify(redactFields(fields));
    for (const secret of ['hunter2', 'abc', 't0p']) expect(text).not.toContain(secret);
  });
});

describe('a log line keeps', () => {
  it.each([
    'redis://redis:6379/0',
    'https://127.0.0.1:6443/api/v1/namespaces/a/pods?watch=1',
    'Scaled up replica set web-5d from 0 to 3',
  ])('words that are no secret: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('numbers, fencing tokens and names of files', () => {
    const fields = {
      fencing_token: 7,
      'rollkeeper.fencing_token': '7',
      'admin-token-file': '/etc/token',
      n: 1,
    };
    expect(redactFields(fields)).toEqual(fields);
  });
});
