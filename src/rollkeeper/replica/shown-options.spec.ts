import { expect, it } from 'vitest';
import { renderFlagz } from '../admin/server/z-pages.js';
import { withoutSecrets } from './replica-admin-options.provider.js';
import { compileReplicaOptions } from './replica.options.js';

it('shows the options in force, and of secrets neither their text nor where they are', () => {
  const options = compileReplicaOptions({
    'redis-url': 'rediss://user:hidden-1@redis:6379',
    identity: 'replica-1',
    kubeconfig: '/hidden-3',
    'admin-host': '0.0.0.0',
    'admin-token-file': '/hidden-4',
    'admin-tls-cert-file': '/etc/tls.crt',
    'admin-tls-private-key-file': '/hidden-5',
    'sync-timeout-ms': '60000',
  });
  const shown = withoutSecrets(options);
  expect(JSON.stringify(shown)).not.toContain('hidden-');
  expect(shown).toMatchObject({
    identity: 'replica-1',
    'admin-serves': 'files',
    'admin-tls-cert-file': '/etc/tls.crt',
    'sync-timeout-ms': { deployment: 60_000 },
  });
});

it('shows values alone: nothing of what the program made of them', () => {
  const options = compileReplicaOptions({
    'redis-url': 'redis://redis:6379',
    identity: 'replica-1',
    'cloudevents-sink': 'https://events.example.com/in',
  });
  options.checkResults.listen(() => undefined);
  const { text } = renderFlagz(withoutSecrets(options));
  expect(text).toContain('cloudevents-sink=https://events.example.com/in\n');
  expect(text).not.toMatch(/=>|function|listener|^[a-z]+[A-Z]|\[object|^scope=|^admin-serves=/m);
});

it.each([
  ['redis://:hidden-1@hidden-2@redis:6379', 'redis://redis:6379'],
  ['rediss://hidden-1@redis:6379/2?key=/hidden-2&ca=/ca', 'rediss://redis:6379/2'],
  [
    'redis+sentinel://u:hidden-1@a,b/main?sentinel-password=hidden-2',
    'redis+sentinel://a:26379,b:26379/main',
  ],
])('shows where Redis is, and nothing of the login, whatever characters are in it: %s', (url, shown) => {
  const options = compileReplicaOptions({ 'redis-url': url, identity: 'replica-1' });
  expect(withoutSecrets(options)).toHaveProperty(['redis-url'], shown);
});
