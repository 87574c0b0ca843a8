import { describe, expect, it, vi } from 'vitest';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import type { ApiClient } from '@rollkeeper/runtime';
import { NO_SECRETS, SECRET_HOSTS, secretsOf } from './check-secrets.js';

const { signal } = new AbortController();
const asked = { namespace: 'shop', name: 'grafana', key: 'token', url: 'https://metrics.example.com/x' };

function clientWith(answer: object | Error): Pick<ApiClient, 'get'> {
  const get = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
  return { get } as unknown as Pick<ApiClient, 'get'>;
}

function secret(hosts: string | undefined, data: Record<string, string> = { token: 't0ken\n' }) {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const annotations = hosts === undefined ? undefined : { [SECRET_HOSTS]: hosts };
  return { metadata: { name: 'grafana', annotations }, data: Object.fromEntries(encoded) as object };
}

describe('a Secret for checks', () => {
  it('is sent to the hosts that it allows itself, without the line end that editors add', async () => {
    expect(await secretsOf(clientWith(secret('*.example.com'))).read(asked, signal)).toBe('t0ken');
  });

  it('is read once for all keys that one measurement asks for', async () => {
    const client = clientWith(secret('*.example.com', { token: 'a', other: 'b' }));
    const get = vi.spyOn(client, 'get');
    const secrets = secretsOf(client);
    const read = (key: string) => secrets.read({ ...asked, key }, signal);
    expect(await Promise.all([read('token'), read('other')])).toEqual(['a', 'b']);
    expect(get).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['has no annotation', secret(undefined), 'may not be sent to metrics.example.com'],
    ['allows another host', secret('metrics.example.org'), 'may not be sent to metrics.example.com'],
    ['allows another port', secret('metrics.example.com:8443'), 'may not be sent to metrics.example.com'],
    ['has an annotation that is no list of hosts', secret('*'), '"*" is not'],
    ['lacks the key', secret('*.example.com', { other: 'x' }), 'has no key token'],
    ['has an empty key', secret('*.example.com', { token: '\n' }), 'is empty'],
    [
      'is not there',
      new ApiStatusError({ code: 404, reason: 'NotFound', message: 'secrets "grafana" not found' }),
      'there is no Secret grafana',
    ],
    [
      'may not be read',
      new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'no' }),
      'Secret grafana may not be read',
    ],
  ])('is not sent if it %s', async (_what, answer, message) => {
    await expect(secretsOf(clientWith(answer)).read(asked, signal)).rejects.toThrow(message);
  });

  it('is not read where the option is off', async () => {
    await expect(NO_SECRETS.read(asked, signal)).rejects.toThrow('--check-secrets');
  });
});
