import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { InvalidOptionError } from '../../machinery/errors/index.js';
import { fixedCredentials } from './credentials.js';
import type { HttpApiClientOptions } from './http-api-client.options.js';
import { compileHttpApiClientOptions } from './http-api-client.options.js';

const options = (more: Partial<HttpApiClientOptions> = {}): HttpApiClientOptions => ({
  connection: { serverUrl: 'http://h', tls: {}, credentials: fixedCredentials({}), source: 'test' },
  userAgent: 'rollkeeper/test',
  clock: new FakeClock(),
  ...more,
});

describe('compileHttpApiClientOptions', () => {
  it('has the defaults that are documented', () => {
    expect(compileHttpApiClientOptions(options())).toMatchObject({
      maxSockets: 64,
      requestTimeoutMs: 32_000,
      connectTimeoutMs: 10_000,
      retry: { maxAttempts: 5 },
    });
  });

  it.each<[string, Partial<HttpApiClientOptions>]>([
    ['maxSockets', { maxSockets: 0 }],
    ['requestTimeoutMs', { requestTimeoutMs: -1 }],
    ['maxAttempts', { maxAttempts: 0 }],
    ['userAgent', { userAgent: 'a\nb' }],
  ])('refuses a wrong %s by its name', (name, wrong) => {
    expect(() => compileHttpApiClientOptions(options(wrong))).toThrow(InvalidOptionError);
    expect(() => compileHttpApiClientOptions(options(wrong))).toThrow(`apiClient.${name}`);
  });
});
